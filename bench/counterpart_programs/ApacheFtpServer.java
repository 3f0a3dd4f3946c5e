// Apache FtpServer with one user: PORT ROOT USER PASSWORD.

import java.util.List;
import org.apache.ftpserver.FtpServerFactory;
import org.apache.ftpserver.listener.ListenerFactory;
import org.apache.ftpserver.usermanager.impl.BaseUser;
import org.apache.ftpserver.usermanager.impl.WritePermission;

class ApacheFtpServer {
    public static void main(String[] arguments) throws Exception {
        var listener = new ListenerFactory();
        listener.setServerAddress("127.0.0.1");
        listener.setPort(Integer.parseInt(arguments[0]));
        var user = new BaseUser();
        user.setHomeDirectory(arguments[1]);
        user.setName(arguments[2]);
        user.setPassword(arguments[3]);
        user.setAuthorities(List.of(new WritePermission()));
        var server = new FtpServerFactory();
        server.addListener("default", listener.createListener());
        server.getUserManager().save(user);
        server.createServer().start();
    }
}
