package web

import "net/netip"

// Network is where a request without credentials comes from, for limits that
// callers share: its address, for IPv6 the /64, since every client has that many
// addresses. Clients of a socket in the file system are one, the zero Prefix.
func Network(address netip.Addr) netip.Prefix {
	if !address.IsValid() {
		return netip.Prefix{}
	}
	bits := 32
	if address.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(address, bits).Masked()
}
