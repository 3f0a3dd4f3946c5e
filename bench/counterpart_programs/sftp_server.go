// pkg/sftp over golang.org/x/crypto/ssh with one user: ADDRESS ROOT USER PASSWORD KEY.
package main

import (
	"errors"
	"log"
	"net"
	"os"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

func serve(connection net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, asked, err := offered.Accept()
		if err != nil {
			return
		}
		go func() {
			for request := range asked {
				_ = request.Reply(request.Type == "subsystem", nil)
			}
		}()
		server, err := sftp.NewServer(channel, sftp.WithServerWorkingDirectory(os.Args[2]))
		if err != nil {
			return
		}
		go func() { _ = server.Serve(); _ = channel.Close() }()
	}
}

func main() {
	key, err := os.ReadFile(os.Args[5])
	if err != nil {
		log.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(key)
	if err != nil {
		log.Fatal(err)
	}
	config := &ssh.ServerConfig{PasswordCallback: func(c ssh.ConnMetadata, given []byte) (*ssh.Permissions, error) {
		if c.User() != os.Args[3] || string(given) != os.Args[4] {
			return nil, errors.New("wrong user or password")
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(connection, config)
	}
}
