package outgoing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Networks are inner ones that the operator allows.
type Networks []netip.Prefix

// ParseNetworks reads networks between commas, "10.0.0.0/8,::1/128"; a bare address is one of a single
// host.
func ParseNetworks(text string) (list Networks, err error) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		p, err := netip.ParsePrefix(word)
		if err != nil {
			a, bad := netip.ParseAddr(word)
			if bad != nil || a.Zone() != "" {
				return nil, fmt.Errorf("invalid network %q: write it as 10.0.0.0/8", word)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		if p.Addr().Is4In6() {
			return nil, fmt.Errorf("%q: write networks of IPv4 as 10.0.0.0/8", word)
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// Loopback are the addresses of this machine itself.
func Loopback() Networks {
	return Networks{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// inner4 are the networks of IPv4 that are not the internet: what IANA lists as special.
var inner4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")

// Of IPv6 the internet is what was given out for it, but for what carries other addresses or none:
// Teredo and other protocols, documentation, 6to4. All else is none of it, also NAT64, whose
// addresses hold some of IPv4.
var (
	internet6 = netip.MustParsePrefix("2000::/3")
	inner6    = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for n, text := range texts {
		list[n] = netip.MustParsePrefix(text)
	}
	return list
}

// Allow reports whether requests may go to an address: it is one of the internet, or the operator
// allows its network.
func (n Networks) Allow(a netip.Addr) bool {
	a = a.Unmap()
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	switch {
	case !a.IsValid() || a.Zone() != "":
		return false
	case slices.ContainsFunc(n, within):
		return true
	case a.Is4():
		return !slices.ContainsFunc(inner4, within)
	default:
		return internet6.Contains(a) && !slices.ContainsFunc(inner6, within)
	}
}

// ErrInner says that a receiver is on an inner network. It does not say which address it has: that
// would tell strangers what is in there.
var ErrInner = errors.New(
	"the address is of an inner network, which this server's operator has not allowed " +
		"with --allow-hook-networks")

// CheckHost looks at a host that is an address, or names this machine. Other names are looked up when
// something is sent. Error: ErrInner.
func (n Networks) CheckHost(host string) error {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		if !n.Allow(netip.IPv6Loopback()) && !n.Allow(netip.AddrFrom4([4]byte{127, 0, 0, 1})) {
			return ErrInner
		}
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil && !n.Allow(a) {
		return ErrInner
	}
	return nil
}

// maxAddresses is how many addresses of one name are tried.
const maxAddresses = 4

// resolver looks names up.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dialer connects to addresses that were looked at, and to nothing else: a name is looked up once, and what
// it led to is what is dialed. So a name that leads elsewhere the second time leads nowhere.
type dialer struct {
	allowed Networks
	names   resolver
	net.Dialer
}

// dial is http.Transport's DialContext.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	err = ErrInner
	for _, a := range found {
		var c net.Conn
		if c, err = d.DialContext(ctx, network, net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// resolve looks a host up, and returns the addresses that may be dialed. Errors: ErrInner if there are none,
// errUnknownName.
func (d *dialer) resolve(ctx context.Context, host string) (found []netip.Addr, err error) {
	if a, err := netip.ParseAddr(host); err == nil {
		found = append(found, a)
	} else if found, err = d.names.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, errLookup(ctx, err)
	}
	found = slices.DeleteFunc(found, func(a netip.Addr) bool { return !d.allowed.Allow(a) })
	if len(found) == 0 {
		return nil, ErrInner
	}
	return found[:min(len(found), maxAddresses)], nil
}

// Resolve looks a host up for a program that connects by itself, and returns the addresses that it may connect to: a
// second look might find others. The error says in our own words why there are none.
func (n Networks) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	found, err := (&dialer{allowed: n, names: net.DefaultResolver}).resolve(ctx, host)
	if err != nil {
		return nil, errors.New(describe(err))
	}
	return found, nil
}

// Dial connects to an address, for clients that keep connections and read long answers. A name is looked up once,
// checked, and what it led to is dialed. Errors: ErrInner; [Describe] says what an error means.
func (n Networks) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &dialer{allowed: n, names: net.DefaultResolver, Dialer: net.Dialer{Timeout: Timeout}}
	return d.dial(ctx, network, address)
}

// Describe says in our own words why a connection failed. The text has no address in it.
func Describe(err error) string { return describe(err) }

// errUnknownName says that a name leads to no address.
var errUnknownName = errors.New("the name of the host was not found")

func errLookup(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(errUnknownName, err)
}
