// webdav-server with one user: PORT ROOT USER PASSWORD.
const { v2: webdav } = require('webdav-server');

const [port, root, user, password] = process.argv.slice(2);
const users = new webdav.SimpleUserManager();
const one = users.addUser(user, password, false);
const rights = new webdav.SimplePathPrivilegeManager();
rights.setRights(one, '/', ['all']);
const server = new webdav.WebDAVServer({
  hostname: '127.0.0.1',
  port: Number(port),
  httpAuthentication: new webdav.HTTPBasicAuthentication(users, 'lab'),
  privilegeManager: rights,
});
server.setFileSystem('/', new webdav.PhysicalFileSystem(root), () => server.start());
