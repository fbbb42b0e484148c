package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// adminTime is how long an answer on the admin address may take: a reset empties a large store, and numbers
// are read beside many requests.
const adminTime = 2 * time.Minute

// GuardAdmin lets only those reach the admin address who mean it: operators and
// their programs, and no page that somebody reads in a browser on the same
// machine. Such a page may have its own name lead to this address (DNS rebinding),
// so a request must name a loopback address, the one that it came to, or host,
// which the operator chose, perhaps none. And it may just send requests, as long
// as it need not read the answers; a browser says of those where they come from.
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
			// Without a deadline of its own, an answer that takes long would be cut off before it begins.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(adminTime))
			h.ServeHTTP(w, r)
		}
	})
}

// namesAdmin reports whether the request's Host is one of GuardAdmin's.
func namesAdmin(r *http.Request, host string) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local != nil && local.Network() == "unix" {
		return true // no browser's
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

// fromPage reports a request that a browser sends for a page of another site.
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
