"""pyftpdlib with one user, and TLS for both connections where a certificate is given."""

import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
from pyftpdlib.servers import FTPServer

port, root, user, password, *tls = sys.argv[1:]
handler = TLS_FTPHandler if tls else FTPHandler
handler.authorizer = DummyAuthorizer()
handler.authorizer.add_user(user, password, root, perm="elradfmwMT")
if tls:
    handler.certfile, handler.keyfile = tls
    handler.tls_control_required = handler.tls_data_required = True
FTPServer(("127.0.0.1", int(port)), handler).serve_forever()
