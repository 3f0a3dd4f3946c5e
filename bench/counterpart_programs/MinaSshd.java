// Apache MINA SSHD with one user: PORT ROOT USER PASSWORD KEY.

import java.nio.file.Path;
import java.util.List;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;

class MinaSshd {
    public static void main(String[] arguments) throws Exception {
        var server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setPort(Integer.parseInt(arguments[0]));
        server.setFileSystemFactory(new VirtualFileSystemFactory(Path.of(arguments[1])));
        server.setPasswordAuthenticator(
                (user, password, session) ->
                        user.equals(arguments[2]) && password.equals(arguments[3]));
        server.setKeyPairProvider(new FileKeyPairProvider(Path.of(arguments[4])));
        server.setSubsystemFactories(List.of(new SftpSubsystemFactory()));
        server.start();
        Thread.currentThread().join();
    }
}
