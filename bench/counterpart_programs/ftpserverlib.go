// ftpserverlib with one user: ADDRESS ROOT USER PASSWORD [CERTIFICATE KEY].
package main

import (
	"crypto/tls"
	"errors"
	"log"
	"os"

	server "github.com/fclairamb/ftpserverlib"
	"github.com/spf13/afero"
)

type driver struct{}

func (driver) GetSettings() (*server.Settings, error) {
	settings := &server.Settings{ListenAddr: os.Args[1]}
	if len(os.Args) > 5 {
		settings.TLSRequired = server.MandatoryEncryption
	}
	return settings, nil
}

func (driver) ClientConnected(server.ClientContext) (string, error) { return "ftpserverlib", nil }
func (driver) ClientDisconnected(server.ClientContext)              {}

func (driver) AuthUser(_ server.ClientContext, user, password string) (server.ClientDriver, error) {
	if user != os.Args[3] || password != os.Args[4] {
		return nil, errors.New("wrong user or password")
	}
	return afero.NewBasePathFs(afero.NewOsFs(), os.Args[2]), nil
}

func (driver) GetTLSConfig() (*tls.Config, error) {
	if len(os.Args) < 7 {
		return nil, errors.New("no certificate")
	}
	pair, err := tls.LoadX509KeyPair(os.Args[5], os.Args[6])
	return &tls.Config{Certificates: []tls.Certificate{pair}}, err
}

func main() { log.Fatal(server.NewFtpServer(driver{}).ListenAndServe()) }
