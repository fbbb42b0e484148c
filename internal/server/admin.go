package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// adminTime is the write timeout of the admin address: a reset empties a large store, and metrics may wait
// for other requests.
const adminTime = 2 * time.Minute

// GuardAdmin protects the admin address from pages in a browser on the same machine. Such a page may make
// its own host name resolve to the address (DNS rebinding), so the Host of a request must be a loopback
// address, the address it was sent to, or host, which may be empty. It may also send cross-site requests
// without reading the responses; browsers mark these, and they are rejected.
func GuardAdmin(h http.Handler, host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !namesAdmin(r, host):
			AdminError(w, http.StatusMisdirectedRequest,
				"This address is for operators: name it by a loopback address, or as --admin-listen does.")
		case fromPage(r):
			AdminError(w, http.StatusForbidden,
				"This address is for operators, and not for pages of other sites.")
		default:
			// The server's own write timeout would cut off a slow response.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(adminTime))
			h.ServeHTTP(w, r)
		}
	})
}

// namesAdmin reports whether GuardAdmin accepts the request's Host.
func namesAdmin(r *http.Request, host string) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local != nil && local.Network() == "unix" {
		return true // browsers cannot connect to it
	}
	name := strings.TrimSuffix((&url.URL{Host: r.Host}).Hostname(), ".")
	if strings.EqualFold(name, "localhost") || host != "" && strings.EqualFold(name, host) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if ip = ip.Unmap(); ip.IsLoopback() {
		return true
	}
	if local == nil {
		return false
	}
	to, err := netip.ParseAddrPort(local.String())
	return err == nil && to.Addr().Unmap().WithZone("") == ip.WithZone("")
}

// fromPage reports whether a browser sent the request for a page of another site.
func fromPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(u.Host, r.Host)
}
