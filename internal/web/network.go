package web

import (
	"net/http"
	"net/netip"
)

// Network is where a request without credentials comes from, for limits that
// callers share: its address, of IPv6 the /64, of which everybody has that many
// addresses. Clients of a socket in the file system are one, the zero Prefix.
func Network(r *http.Request) netip.Prefix {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address := remote.Addr().Unmap().WithZone("")
	bits := 32
	if address.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(address, bits).Masked()
}
