package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
	"arbor/internal/lfs/client"
	"arbor/internal/migration"
)

// maxObjects is how many objects of Git LFS are brought from an address that a user gave, as to a mirror.
const maxObjects = 100_000

// LFSObjects writes the objects of Git LFS to which files point, in all commits of the mirror.
func (s *Source) LFSObjects(ctx context.Context) error {
	left := false
	return s.Mirror.SmallBlobs(ctx, lfs.MaxPointer, func(data []byte) error {
		p, ok := lfs.ParsePointer(data)
		path := "lfs/" + p.OID
		if _, seen := s.files[path]; !ok || seen || p.Size == 0 {
			return nil
		}
		if s.o.Bounds != nil && len(s.files) == maxObjects {
			if !left {
				s.Leave("objects of Git LFS behind the first %d", maxObjects)
			}
			left = true
			return nil
		}
		s.files[path] = p
		return s.Out.Add(migration.LFSObjects, &migration.LFSObject{OID: p.OID,
			File: migration.File{Path: path, Size: p.Size, SHA256: p.OID}})
	})
}

// LFSObject returns the pointer to the object with a path of the records.
func (s *Source) LFSObject(path string) (p lfs.Pointer, ok bool) {
	p, ok = s.files[path]
	return p, ok
}

// OpenLFS asks where an object is, and reads it from there.
func (s *Source) OpenLFS(ctx context.Context, p lfs.Pointer) (io.ReadCloser, error) {
	ask := lfs.BatchRequest{Operation: "download", Transfers: []string{"basic"}, Objects: []lfs.Pointer{p}}
	var answer lfs.BatchAnswer
	header := http.Header{"Accept": {client.MediaType}, "Content-Type": {client.MediaType}}
	if basic := s.Basic(); basic != "" {
		header.Set("Authorization", basic)
	}
	address := strings.TrimSuffix(s.clone, ".git") + ".git/info/lfs/objects/batch"
	if err := s.JSON(ctx, http.MethodPost, address, header, ask, &answer); err != nil {
		return nil, err
	}
	if len(answer.Objects) != 1 || answer.Objects[0].OID != p.OID {
		return nil, fmt.Errorf("the server's LFS API did not return the object")
	}
	o := answer.Objects[0]
	if o.Error != nil {
		return nil, fmt.Errorf("the server says %.200q", o.Error.Message)
	}
	download := o.Actions["download"]
	at, err := url.Parse(download.Href)
	if err != nil || at.Host == "" {
		return nil, fmt.Errorf("the server's LFS API returned no download address for the object")
	}
	given := http.Header{}
	for name, value := range download.Header {
		given.Set(name, value)
	}
	if at.Host == s.Base.Host && at.Scheme == s.Base.Scheme {
		return s.Content(ctx, at.String(), given)
	}
	a, err := outgoing.New(nil).Fetch(ctx, at.String(), given)
	if err != nil {
		return nil, err
	}
	if a.StatusCode != http.StatusOK {
		a.Body.Close()
		return nil, fmt.Errorf("%s answers %s", at.Host, a.Status)
	}
	return a.Body, nil
}

// Content is Fetch for the body of the answer.
func (c *Client) Content(ctx context.Context, address string, header http.Header) (io.ReadCloser, error) {
	a, err := c.Fetch(ctx, address, header)
	if err != nil {
		return nil, err
	}
	return a.Body, nil
}

// Fetch requests a file from the server, or from where the server redirects to, without the token then. The caller
// closes the body of the answer.
func (c *Client) Fetch(ctx context.Context, address string, header http.Header) (*http.Response, error) {
	a, err := c.Do(ctx, http.MethodGet, address, nil, header)
	if err == nil && a.StatusCode >= 300 {
		to, bad := a.Location()
		a.Body.Close()
		if bad != nil {
			return nil, bad
		}
		if to.Scheme != "https" && c.Base.Scheme == "https" {
			return nil, fmt.Errorf("%s redirects to an address without TLS", address)
		}
		a, err = outgoing.New(nil).Fetch(ctx, to.String(), http.Header{})
	}
	if err != nil {
		return nil, err
	}
	if a.StatusCode != http.StatusOK {
		a.Body.Close()
		return nil, fmt.Errorf("%s answers %s", a.Request.URL.Host, a.Status)
	}
	return a, nil
}
