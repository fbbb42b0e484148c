package admission

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks of trusted proxies: their headers name the client.
type Proxies []netip.Prefix

// ParseProxies reads networks in CIDR notation, or single addresses, between
// commas.
func ParseProxies(list string) (Proxies, error) {
	var p Proxies
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		network, err := netip.ParsePrefix(item)
		if err != nil {
			address, addrErr := netip.ParseAddr(item)
			if addrErr != nil || address.Zone() != "" {
				return nil, fmt.Errorf("%q is not a network like 10.0.0.0/8", item)
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		if network.Addr().Is4In6() {
			return nil, fmt.Errorf("%q is a network of IPv4: write it as one", item)
		}
		p = append(p, network.Masked())
	}
	return p, nil
}

func (p Proxies) trust(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Origin is the origin of a request, as far as it can be trusted.
type Origin struct {
	Address netip.Addr // invalid for a socket in the file system
	Scheme  string     // "http" or "https", as the client sees it
	Host    string
}

// Origin reads where a request comes from. The headers X-Forwarded-For, -Proto
// and -Host count when the peer is trusted. Each proxy appends its client's address to
// X-Forwarded-For, so the rightmost address counts that is not a trusted proxy itself;
// anybody may have written those left of it. (The header Forwarded is not read: a proxy
// that sets one kind passes the other on from its client.)
func (p Proxies) Origin(r *http.Request) Origin {
	o := Origin{Address: addressOf(r.RemoteAddr), Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		o.Scheme = "https"
	}
	if len(p) == 0 || !p.trust(o.Address) {
		return o
	}
	o.Address = p.client(o.Address, r.Header["X-Forwarded-For"])
	switch proto := lastOf(r.Header["X-Forwarded-Proto"]); strings.ToLower(proto) {
	case "http", "https":
		o.Scheme = strings.ToLower(proto)
	}
	if host := lastOf(r.Header["X-Forwarded-Host"]); host != "" {
		o.Host = host
	}
	return o
}

// client walks from the peer to the left as long as the addresses are trusted proxies.
// An element that is not an address ends the walk: the proxy that wrote it is the client.
func (p Proxies) client(peer netip.Addr, forwarded []string) netip.Addr {
	for i := len(forwarded) - 1; i >= 0; i-- {
		rest := forwarded[i]
		for rest != "" {
			at := strings.LastIndexByte(rest, ',')
			said := addressOf(strings.TrimSpace(rest[at+1:]))
			if !said.IsValid() {
				return peer
			}
			if peer = said; !p.trust(peer) {
				return peer
			}
			rest = rest[:max(at, 0)]
		}
	}
	return peer
}

// lastOf is the last element of a header, which the nearest proxy wrote.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	v := values[len(values)-1]
	return strings.TrimSpace(v[strings.LastIndexByte(v, ',')+1:])
}

// addressOf parses an address with or without a port, without its zone. It returns the zero Addr for other
// text.
func addressOf(s string) netip.Addr {
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(s)
		if err != nil {
			return netip.Addr{}
		}
		a = with.Addr()
	}
	return a.Unmap().WithZone("")
}

// NetworkOf is the network under which an address is counted: its /24, for IPv6 its /56,
// which is the size that one customer gets. All clients of a socket in the file system
// are the zero Prefix.
func NetworkOf(a netip.Addr) netip.Prefix {
	if !a.IsValid() {
		return netip.Prefix{}
	}
	bits := 24
	if a.Is6() {
		bits = 56
	}
	return netip.PrefixFrom(a, bits).Masked()
}
