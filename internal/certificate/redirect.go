package certificate

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/admission"
)

// Redirect leads clients of plain HTTP to the same address by https, at one of some hosts, each
// with its port where that is not 443. A request names its host itself, so one that is not
// among them is led to the first. Otherwise a link here could lead to any site.
//
// The answer is a 308: with a 301, clients turn a POST into a GET, so a push would seem to
// be done. A token that came by plain HTTP has been seen by all on the way. That cannot be
// undone here, so nothing is answered but the way.
func Redirect(hosts []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := hosts[0]
		if i := slices.IndexFunc(hosts, func(h string) bool { return sameHost(h, r.Host) }); i >= 0 {
			to = hosts[i]
		}
		path := r.URL.EscapedPath()
		if !strings.HasPrefix(path, "/") {
			path = "/"
		}
		if r.URL.RawQuery != "" {
			path += "?" + r.URL.RawQuery
		}
		h := w.Header()
		h.Set("Location", "https://"+to+path)
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Connection", "close")
		w.WriteHeader(http.StatusPermanentRedirect)
		io.WriteString(w, "This server is reached by https.\n")
	})
}

// sameHost compares names without their ports.
func sameHost(a, b string) bool {
	return strings.EqualFold(nameOf(a), nameOf(b))
}

func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(host, ".")
}

// Paced applies the limits for slow clients to the plain HTTP listener, too.
func Paced(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(admission.Pace(w, r), r)
	})
}
