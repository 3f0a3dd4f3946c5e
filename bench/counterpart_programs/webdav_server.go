// golang.org/x/net/webdav with one user: ADDRESS ROOT USER PASSWORD.
package main

import (
	"log"
	"net/http"
	"os"

	"golang.org/x/net/webdav"
)

func main() {
	files := &webdav.Handler{FileSystem: webdav.Dir(os.Args[2]), LockSystem: webdav.NewMemLS()}
	login := func(w http.ResponseWriter, r *http.Request) {
		user, password, given := r.BasicAuth()
		if !given || user != os.Args[3] || password != os.Args[4] {
			w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(login)))
}
