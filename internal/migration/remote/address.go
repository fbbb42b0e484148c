package remote

import (
	"fmt"
	"net/url"
	"strings"
)

// Server splits an address into that of a server's pages and the names behind it: of an organization or a repository.
func Server(address string) (base *url.URL, names []string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, nil, fmt.Errorf("%q is not the address of a repository, such as https://github.com/OWNER/NAME", address)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/") {
		if names = append(names, part); part == "" {
			return nil, nil, fmt.Errorf("%q does not name a repository: OWNER/NAME", address)
		}
	}
	most := max(0, len(names)-2)
	base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + strings.Join(names[:most], "/")}
	return base, names[most:], nil
}

// Name is the name in the address of a repository, OWNER/NAME, or of an organization.
func Name(address string) string {
	_, names, _ := Server(address)
	return strings.Join(names, "/")
}

// Path is that of the repository in an API, repos/OWNER/NAME. Error: the address is not that of a repository.
func Path(address string, names []string) (string, error) {
	if len(names) != 2 {
		return "", fmt.Errorf("%q does not name a repository: OWNER/NAME", address)
	}
	return "repos/" + url.PathEscape(names[0]) + "/" + url.PathEscape(names[1]), nil
}

// IsOrganization reports whether an address is that of an organization, such as https://github.com/ORG, and not of a
// repository.
func IsOrganization(address string) bool {
	_, names, err := Server(address)
	return err == nil && len(names) == 1
}

// Repository is the address of a repository of the organization at an address.
func Repository(organization, name string) string {
	u, err := url.Parse(organization)
	if err != nil {
		return ""
	}
	return u.JoinPath(name).String()
}
