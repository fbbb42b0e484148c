package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/migration/remote"
)

// Place is what an address is on a GitLab server.
type Place struct {
	Base  *url.URL // of the server's pages
	Path  string   // of a project or a group, with the groups above it
	Group bool
}

// Name is what the project or group is called here by default: OWNER/NAME, or the login of an organization.
func (p *Place) Name() string {
	if p.Group {
		return strings.ReplaceAll(p.Path, "/", "-")
	}
	return nameOf(p.Path)
}

// nameOf returns OWNER/NAME for the path of a project: the first group is the owner, and the others become a
// part of the name, as in acme/tools-cli for acme/tools/cli.
func nameOf(path string) string {
	owner, rest, below := strings.Cut(path, "/")
	if !below {
		return owner
	}
	return owner + "/" + strings.ReplaceAll(rest, "/", "-")
}

// client returns a client of the server.
func (p *Place) client(o remote.Options) *remote.Client {
	c := remote.NewClient(p.Base, p.Base.JoinPath("api/v4/"), o)
	c.Kind, c.Header, c.Scheme = "GitLab", "PRIVATE-TOKEN", ""
	return c
}

// Find returns the place of an address of a project or a group, such as
// https://gitlab.com/GROUP/SUBGROUP/NAME; nil if the server does not speak GitLab's API. Errors: those of
// the server, if it has no such project and no such group.
func Find(ctx context.Context, address string, o remote.Options) (*Place, error) {
	u, parts, err := split(address)
	if err != nil || strings.EqualFold(u.Host, "github.com") {
		return nil, nil
	}
	for below := range min(len(parts), 2) { // the server may be at a path below its host
		p := &Place{Path: strings.Join(parts[below:], "/"), Base: &url.URL{Scheme: u.Scheme, Host: u.Host}}
		if below > 0 {
			p.Base = p.Base.JoinPath(parts[:below]...)
		}
		c := p.client(o)
		yes, err := is(ctx, c.WithoutToken())
		if yes {
			return p, p.find(ctx, c)
		}
		if lost := (*url.Error)(nil); errors.As(err, &lost) { // nothing answers
			break
		}
	}
	return nil, nil
}

// split splits an address into its parts. What follows /-/ is a page of the project.
func split(address string) (u *url.URL, parts []string, err error) {
	u, err = url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, nil, fmt.Errorf("%q is not the address of a project", address)
	}
	path, _, _ := strings.Cut(strings.Trim(u.Path, "/")+"/", "/-/")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "groups/"), "/") {
		if part == "" || part == "." || part == ".." {
			return nil, nil, fmt.Errorf("%q does not name a project", address)
		}
		parts = append(parts, part)
	}
	return u, parts, nil
}

// is reports whether the server speaks GitLab's API: without a token it answers with 401, in these words.
// Errors are those of the request.
func is(ctx context.Context, c *remote.Client) (bool, error) {
	var said struct{ Version, Revision string }
	err := c.Get(ctx, "version", &said)
	if no := (*remote.Refusal)(nil); errors.As(err, &no) {
		return no.Status == http.StatusUnauthorized && strings.Contains(no.Text, "401 Unauthorized\""), err
	}
	return err == nil && said.Version != "" && said.Revision != "", err
}

// find finds out whether the path is that of a group.
func (p *Place) find(ctx context.Context, c *remote.Client) error {
	var any struct{}
	err := c.Get(ctx, "projects/"+url.PathEscape(p.Path), &any)
	if !remote.Absent(err) {
		return err
	}
	bad := c.Get(ctx, "groups/"+url.PathEscape(p.Path)+"?with_projects=false", &any)
	if remote.Absent(bad) {
		return fmt.Errorf("%s has no project or group %q, or the token does not show it: %w", p.Base.Host, p.Path, err)
	}
	p.Group = true
	return bad
}
