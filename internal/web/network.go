package web

import "net/netip"

// Network returns the network of an anonymous request, for limits that callers share: its address, or for
// IPv6 the /64, because every client has that many addresses. All clients of Unix sockets share the zero
// Prefix.
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
