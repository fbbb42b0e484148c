package depot

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// address is where a depot is.
type address struct {
	path string // of a folder

	bucket   string // empty: a folder
	prefix   string // of all keys; empty, or it ends with a slash
	endpoint string // https://host:port; empty: Amazon's
	region   string
	style    string // how the bucket is named in addresses: path, host, or empty for what suits the endpoint
	sse      string // server-side encryption: s3, kms:KEY, or empty for the bucket's own
	direct   bool   // clients download from the service by signed addresses
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixName = regexp.MustCompile(`^[A-Za-z0-9._/-]*$`)
	regionName = regexp.MustCompile(`^[a-z0-9-]*$`)
)

// Canonical returns the canonical form of an address. The error describes an invalid address to the operator.
func Canonical(text string) (string, error) {
	at, err := parse(text)
	if err != nil {
		return "", err
	}
	return at.String(), nil
}

// parse reads an address.
func parse(text string) (*address, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("invalid address of a depot: %w", err)
	case u.Scheme == "file":
		if u.Host != "" || u.RawQuery != "" || u.Fragment != "" || !filepath.IsAbs(u.Path) {
			return nil, fmt.Errorf("invalid address %q: want file:// and an absolute path", text)
		}
		return &address{path: filepath.Clean(u.Path)}, nil
	case u.Scheme != "s3":
		return nil, errors.New("invalid address of a depot: want file:///PATH or " +
			"s3://BUCKET/PREFIX?endpoint=URL&region=NAME")
	case u.User != nil:
		return nil, errors.New("the address of a bucket must not contain access keys: " +
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead")
	case !bucketName.MatchString(u.Host) || u.Fragment != "":
		return nil, fmt.Errorf("invalid name of a bucket %q", u.Host)
	}
	at := &address{bucket: u.Host, prefix: strings.Trim(u.Path, "/"), direct: true}
	if at.prefix != "" {
		if !prefixName.MatchString(at.prefix) || path.Clean("/"+at.prefix) != "/"+at.prefix {
			return nil, fmt.Errorf("invalid prefix %q: use letters, digits and . _ - /", at.prefix)
		}
		at.prefix += "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("invalid address of a bucket: %w", err)
	}
	return at, at.read(query)
}

// read reads the settings behind the question mark.
func (a *address) read(query url.Values) error {
	for name, values := range query {
		value := values[0]
		ok := len(values) == 1
		switch name {
		case "endpoint":
			u, err := url.Parse(value)
			ok = ok && err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
				strings.Trim(u.Path, "/") == "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
			a.endpoint = strings.TrimRight(value, "/")
		case "region":
			ok = ok && regionName.MatchString(value)
			a.region = value
		case "style":
			ok = ok && (value == "path" || value == "host")
			a.style = value
		case "sse":
			key, isKMS := strings.CutPrefix(value, "kms:")
			ok = ok && (value == "s3" || isKMS && key != "")
			a.sse = value
		case "redirect":
			ok = ok && (value == "true" || value == "false")
			a.direct = value == "true"
		default:
			return fmt.Errorf("unknown setting %q of a bucket: want endpoint, region, style, sse or redirect", name)
		}
		if !ok {
			return fmt.Errorf("invalid %s of a bucket: %q", name, value)
		}
	}
	return nil
}

// String writes an address. Settings that do not say where the objects are come last.
func (a *address) String() string {
	if a.bucket == "" {
		return (&url.URL{Scheme: "file", Path: a.path}).String()
	}
	query := url.Values{}
	for name, value := range map[string]string{"endpoint": a.endpoint, "region": a.region, "style": a.style,
		"sse": a.sse} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if !a.direct {
		query.Set("redirect", "false")
	}
	u := url.URL{Scheme: "s3", Host: a.bucket, Path: "/" + strings.TrimSuffix(a.prefix, "/"),
		RawQuery: query.Encode()}
	return u.String()
}
