// ssh2 with one user, and SFTP's calls on a directory: PORT ROOT USER PASSWORD KEY.
const fs = require('fs');
const path = require('path');
const { Server, utils: { sftp: { OPEN_MODE, STATUS_CODE } } } = require('ssh2');

const [port, root, user, password, key] = process.argv.slice(2);
const inside = (name) => path.join(root, path.posix.normalize('/' + name));

// `flagsToString` of ssh2 knows the flags of Node.js alone, and no exclusive creation without truncation.
const pairs = [['CREAT', 'O_CREAT'], ['EXCL', 'O_EXCL'], ['TRUNC', 'O_TRUNC'], ['APPEND', 'O_APPEND']];
const openFlags = (flags) => pairs.reduce(
  (all, [theirs, ours]) => all | (flags & OPEN_MODE[theirs] ? fs.constants[ours] : 0),
  [fs.constants.O_RDONLY, fs.constants.O_RDONLY, fs.constants.O_WRONLY, fs.constants.O_RDWR][flags & 3],
);

function serve(sftp) {
  const open = new Map();
  let next = 0;
  const handle = (value) => {
    open.set(++next, value);
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32BE(next);
    return buffer;
  };
  const of = (buffer) => open.get(buffer.readUInt32BE(0));
  const codes = { ENOENT: STATUS_CODE.NO_SUCH_FILE, EACCES: STATUS_CODE.PERMISSION_DENIED };
  const answer = (id, good) => (error, value) => error
    ? sftp.status(id, codes[error.code] ?? STATUS_CODE.FAILURE)
    : good(value);
  const done = (id) => answer(id, () => sftp.status(id, STATUS_CODE.OK));
  const attributes = (s) => ({
    mode: s.mode, uid: s.uid, gid: s.gid, size: s.size, atime: s.atimeMs / 1000, mtime: s.mtimeMs / 1000,
  });
  sftp.on('REALPATH', (id, name) => sftp.name(id, [{ filename: path.posix.normalize('/' + name) }]));
  sftp.on('OPEN', (id, name, flags) =>
    fs.open(inside(name), openFlags(flags), answer(id, (fd) => sftp.handle(id, handle({ fd })))));
  sftp.on('READ', (id, buffer, offset, length) =>
    fs.read(of(buffer).fd, Buffer.alloc(length), 0, length, offset, (error, count, data) => {
      if (error) return sftp.status(id, STATUS_CODE.FAILURE);
      return count ? sftp.data(id, data.subarray(0, count)) : sftp.status(id, STATUS_CODE.EOF);
    }));
  sftp.on('WRITE', (id, buffer, offset, data) => fs.write(of(buffer).fd, data, 0, data.length, offset, done(id)));
  sftp.on('CLOSE', (id, buffer) => {
    const entry = of(buffer);
    open.delete(buffer.readUInt32BE(0));
    if (entry.fd === undefined) return sftp.status(id, STATUS_CODE.OK);
    return fs.close(entry.fd, done(id));
  });
  for (const [call, method] of [['STAT', fs.stat], ['LSTAT', fs.lstat]]) {
    sftp.on(call, (id, name) => method(inside(name), answer(id, (s) => sftp.attrs(id, attributes(s)))));
  }
  sftp.on('FSTAT', (id, buffer) => fs.fstat(of(buffer).fd, answer(id, (s) => sftp.attrs(id, attributes(s)))));
  sftp.on('SETSTAT', (id) => sftp.status(id, STATUS_CODE.OK));
  sftp.on('FSETSTAT', (id) => sftp.status(id, STATUS_CODE.OK));
  sftp.on('OPENDIR', (id, name) =>
    fs.readdir(inside(name), answer(id, (names) => sftp.handle(id, handle({ name, names })))));
  sftp.on('READDIR', (id, buffer) => {
    const entry = of(buffer);
    if (!entry.names.length) return sftp.status(id, STATUS_CODE.EOF);
    return sftp.name(id, entry.names.splice(0).map((filename) => ({
      filename, longname: filename, attrs: attributes(fs.lstatSync(inside(path.posix.join(entry.name, filename)))),
    })));
  });
  sftp.on('MKDIR', (id, name) => fs.mkdir(inside(name), done(id)));
  sftp.on('RMDIR', (id, name) => fs.rmdir(inside(name), done(id)));
  sftp.on('REMOVE', (id, name) => fs.unlink(inside(name), done(id)));
  sftp.on('RENAME', (id, from, to) => fs.rename(inside(from), inside(to), done(id)));
}

new Server({ hostKeys: [fs.readFileSync(key)] }, (client) => {
  client.on('authentication', (ask) =>
    ask.method === 'password' && ask.username === user && ask.password === password
      ? ask.accept() : ask.reject(['password']));
  client.on('session', (accept) => accept().on('sftp', (take) => serve(take())));
  client.on('error', () => {});
}).listen(Number(port), '127.0.0.1');
