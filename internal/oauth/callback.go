package oauth

import (
	"net/url"
	"strings"

	"arbor/internal/errs"
)

// A code goes to an address that is equal to a registered one, byte for byte (RFC 9700, 2.1). Of a loopback address
// the port may differ (RFC 8252, 7.3), since programs of a desktop listen on any free one.

// loopbacks begin addresses whose port may differ.
var loopbacks = [...]string{"http://127.0.0.1", "http://[::1]", "http://localhost"}

// checkCallback returns an error for an address that cannot be registered. Errors: 422.
func checkCallback(address string) error {
	wrong := errs.Newf(errs.Invalid,
		"%q is not a callback address: it begins with https:// or http:// and a host, and has "+
			"no user, no fragment and no blanks", errs.Clip(address))
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c > '~' || strings.IndexByte("\"'<>\\^`{|};,#", c) >= 0 {
			return wrong
		}
	}
	u, err := url.Parse(address)
	if err != nil || len(address) > maxAddress || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || u.Fragment != "" || strings.ContainsAny(u.Host, "*%@()!$&+=~") {
		return wrong
	}
	return nil
}

// callback finds the registered address for one that was asked for; an empty one asks for the first. ok is false if
// codes must not go there.
func (a *About) callback(asked string) (address string, ok bool) {
	if asked == "" && len(a.Callbacks) > 0 {
		return a.Callbacks[0], true
	}
	for _, registered := range a.Callbacks {
		if asked == registered {
			return asked, true
		}
		host, rest, is := cutLoopback(registered)
		if at, other, also := cutLoopback(asked); is && also && at == host && other == rest {
			return asked, true
		}
	}
	return "", false
}

// cutLoopback cuts a loopback address around its port.
func cutLoopback(address string) (host, rest string, is bool) {
	for _, host := range loopbacks {
		rest, is := strings.CutPrefix(address, host)
		if !is {
			continue
		}
		if port, has := strings.CutPrefix(rest, ":"); has {
			rest = strings.TrimLeft(port, "0123456789")
			if digits := len(port) - len(rest); digits == 0 || digits > 5 {
				return "", "", false
			}
		}
		if rest != "" && rest[0] != '/' && rest[0] != '?' {
			return "", "", false // another host: http://127.0.0.1.example
		}
		return host, rest, true
	}
	return "", "", false
}

// withQuery adds parameters to an address, and leaves it as it is otherwise.
func withQuery(address string, q url.Values) string {
	switch {
	case !strings.Contains(address, "?"):
		return address + "?" + q.Encode()
	case strings.HasSuffix(address, "?"), strings.HasSuffix(address, "&"):
		return address + q.Encode()
	}
	return address + "&" + q.Encode()
}

// SiteOf is the source of a Content-Security-Policy for an address to which a form leads. Policies have no IPv6
// addresses: for one, any host of the scheme.
func SiteOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if strings.Contains(u.Host, "[") {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}
