package web

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/journal"
)

// Info is what the server knows about a request, besides the request itself. The server fills one for each
// request before its handler runs.
type Info struct {
	ID      string     // the X-Request-Id of the answer
	Media   Media      // what the caller accepts
	Site    string     // scheme and host of pages and git, without a slash at the end
	Prefix  string     // before API paths: scheme, host and possibly /api/v3
	SSHHost string     // in addresses for git over SSH; empty: that of Site
	SSHPort string     // empty: git is not served over SSH
	Pattern string     // of the matched route, e.g. /repos/{owner}/{repo}; empty when none
	Docs    string     // the documentation of this operation
	Form    Form       // of error bodies
	From    netip.Addr // the client's address; invalid for a socket in the file system
	Who     string     // the caller's login, for the log; empty when anonymous
	TokenID int64      // of the caller's token, for the log; 0 when anonymous
	Note    error      // an error that the log line shall show
	zip     bool       // the answer may be compressed, see MayZip
	// a webhook payload is rendered: it has no caller and shows no permissions
	ForHook bool
	Asked   Asked      // called for each parameter that a handler reads; nil except in tests
	queried string     // what query was read from
	query   url.Values // parsed once; must not be modified
	params  []param
	room    [4]param // for params: no pattern has more
}

// Asked is called when a handler reads a query parameter or a field of the body. A wrapping handler can
// compare that with the documentation.
type Asked func(in, name string)

// Ask reports that a handler reads a parameter or a field.
func (i *Info) Ask(in, name string) {
	if i.Asked != nil {
		i.Asked(in, name)
	}
}

// Arguments of Asked.
const (
	InQuery = "query"
	InBody  = "body"
)

type param struct{ name, value string }

type infoKey struct{}

// With returns r carrying i.
func With(r *http.Request, i *Info) *http.Request {
	return r.WithContext(WithInfo(r.Context(), i))
}

// infoContext carries an Info and the request id for the log.
type infoContext struct {
	context.Context
	info *Info
}

func (c *infoContext) Value(key any) any {
	switch key.(type) {
	case infoKey:
		return c.info
	case journal.IDKey:
		return c.info.ID
	}
	return c.Context.Value(key)
}

// WithInfo returns a context that carries i. Log lines with it have the request's id.
func WithInfo(ctx context.Context, i *Info) context.Context { return &infoContext{ctx, i} }

// From returns the Info that the request carries, or an empty one. Each request that the server hands to a
// handler has one.
func From(ctx context.Context) *Info {
	i, _ := ctx.Value(infoKey{}).(*Info)
	if i == nil {
		return &Info{}
	}
	return i
}

// SetParam notes the value of a placeholder of the route's pattern.
func (i *Info) SetParam(name, value string) {
	if i.params == nil {
		i.params = i.room[:0]
	}
	i.params = append(i.params, param{name, value})
}

// Param returns the value of a placeholder in the route's pattern, decoded:
// Param(r, "owner") for /repos/{owner}/{repo}.
func Param(r *http.Request, name string) string {
	i := From(r.Context())
	for k := len(i.params) - 1; k >= 0; k-- {
		if i.params[k].name == name {
			return i.params[k].value
		}
	}
	return ""
}

// Number reads a placeholder that is a number or an id, see ParseNumber. Error: 404 if it is invalid.
func Number(r *http.Request, name string) (int64, error) {
	n, ok := ParseNumber(Param(r, name))
	if !ok {
		return 0, errs.Absent()
	}
	return n, nil
}

// ParseNumber reads a number from 1 as GitHub writes it: digits alone, 18 at
// most; 01 is another address than 1.
func ParseNumber(s string) (n int64, ok bool) {
	if s == "" || len(s) > 18 || s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// API returns the address of an API resource, under the prefix that the request
// used (decision 7). The path begins with a slash and is already escaped.
func (i *Info) API(path string) string { return i.Prefix + path }

// Page returns the address of a page or of git: never under /api/v3 (decision 7).
func (i *Info) Page(path string) string { return i.Site + path }

// Path joins segments to an escaped path: Path("repos", "a", "b") is /repos/a/b.
func Path(segments ...string) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// maxHost is the longest name of a host, with its port, in bytes: each address in an answer repeats it.
const maxHost = 255 + len(":65535")

// Address finds the scheme and host under which the caller reached the server,
// for links that work where the caller is (decision 7). A fixed base address
// wins. The result has no slash at its end; api reports a host that begins with
// "api.", which the result does not (it is the site's own).
func Address(scheme, host, fixed string) (site, self string, api bool) {
	if host == "" || len(host) > maxHost || strings.ContainsAny(host, "/\\@?#<>\"'` \t") {
		host = "localhost"
	}
	plain, api := CutAPIHost(host)
	if fixed != "" {
		return fixed, fixed, api
	}
	scheme += "://"
	site = scheme + plain
	if self = site; api {
		self = scheme + host
	}
	return site, self, api
}

// CutAPIHost cuts the "api." off a host that begins with it, as gh sends it.
func CutAPIHost(host string) (plain string, api bool) {
	if len(host) > 4 && strings.EqualFold(host[:4], "api.") {
		return host[4:], true
	}
	return host, false
}

// Host is the host of pages and git, with its port.
func (i *Info) Host() string {
	_, host, _ := strings.Cut(i.Site, "://")
	return host
}

// SSH is the address of a repository, OWNER/NAME, for git over SSH: in the short form where the port is 22.
func (i *Info) SSH(repository string) string {
	host := i.SSHHost
	if host == "" {
		host = i.Host()
	}
	if i.SSHPort == "" { // there is none
		return "git@" + host + ":" + repository + ".git"
	}
	if i.SSHHost == "" {
		if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
			host = host[:at]
		}
	}
	if i.SSHPort == "22" {
		return "git@" + host + ":" + repository + ".git"
	}
	return "ssh://git@" + host + ":" + i.SSHPort + "/" + repository + ".git"
}
