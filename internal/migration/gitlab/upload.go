package gitlab

import (
	"context"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// uploadPath begins the paths of files of texts.
const uploadPath = "uploads/"

// Bounds of files of texts.
const (
	maxUploads = 100_000
	maxUpload  = 100 << 20 // bytes of one
)

// upload is a file of a text, by its secret.
type upload struct {
	secret, name string
	size         int64 // -1: it cannot be read
	written      bool  // as an attachment
}

// uploadOf returns the file with a secret, whose size is asked once.
func (s *Source) uploadOf(ctx context.Context, secret, name string) (*upload, error) {
	if u := s.uploads[secret]; u != nil {
		return u, nil
	}
	if len(s.uploads) == maxUploads {
		return nil, fmt.Errorf("texts name more than %d files", maxUploads)
	}
	u := &upload{secret: secret, name: name, size: -1}
	if plain, err := url.PathUnescape(name); err == nil {
		u.name = plain
	}
	s.uploads[secret] = u
	if u.name == "." || u.name == ".." || strings.ContainsAny(u.name, "/\\\x00") { // it leads to something else
		return u, nil
	}
	a, err := s.fetchUpload(ctx, u)
	if err == nil {
		u.size, err = sizeOf(a, maxUpload)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		u.size = -1
		s.Leave("the file %.100q of a text: %v", u.name, err)
	}
	return u, nil
}

// attach writes the attachment that a text of somebody names, and returns its key; empty if it cannot be
// read.
func (s *Source) attach(ctx context.Context, secret, name, author string) (key string, err error) {
	u, err := s.uploadOf(ctx, secret, name)
	if err != nil || u.size < 0 {
		return "", err
	}
	id, err := hex.DecodeString(secret)
	if err != nil {
		return "", err
	}
	key = strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(id))
	if u.written {
		return key, nil
	}
	u.written = true
	return key, s.Out.Add(migration.Attachments, &migration.Attachment{ID: key, Name: u.name,
		ContentType: remote.Picture(u.name), Uploader: author, CreatedAt: s.about.CreatedAt,
		File: migration.File{Path: uploadPath + secret, Size: u.size}})
}

// fetchUpload requests a file of a text: by the API, or of an older server as everybody does.
func (s *Source) fetchUpload(ctx context.Context, u *upload) (*http.Response, error) {
	at := "uploads/" + u.secret + "/" + url.PathEscape(u.name)
	a, err := s.Fetch(ctx, s.At(s.path+"/"+at), http.Header{})
	if err == nil || !remote.Absent(err) {
		return a, err
	}
	return s.fetchFile(ctx, s.Base.String()+"/"+s.about.Path+"/"+at)
}

// fetchFile requests a file at an address of the project. It sends the token only for a package of a project
// that others do not see: what becomes public is what everybody sees there.
func (s *Source) fetchFile(ctx context.Context, address string) (*http.Response, error) {
	c := s.open
	if s.about.hidden() && strings.HasPrefix(address, s.API.String()) {
		c = s.Client
	}
	a, err := c.Fetch(ctx, address, http.Header{"Accept-Encoding": {"identity"}})
	if err != nil {
		return nil, err
	}
	if at := a.Request.URL; at.Host == s.Base.Host && strings.HasPrefix(at.Path, s.Base.Path+"/users/sign_in") {
		return nil, errors.Join(errors.New("only members see it"), a.Body.Close())
	}
	return a, nil
}

// sizeOf returns the size of a file, and closes the answer. Error: it is larger than most.
func sizeOf(a *http.Response, most int64) (size int64, err error) {
	defer a.Body.Close()
	if size = a.ContentLength; size < 0 {
		if size, err = io.Copy(io.Discard, io.LimitReader(a.Body, most+1)); err != nil {
			return 0, err
		}
	}
	if size > most {
		return 0, fmt.Errorf("it is larger than %d bytes", most)
	}
	return size, nil
}

// isOwn reports whether an address is one of the project: of its pages, or of its packages.
func (s *Source) isOwn(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || strings.Contains(u.Path, "..") || strings.Contains(u.Path, "//") {
		return false
	}
	for _, begin := range [...]string{s.Base.String() + "/" + s.about.Path + "/",
		s.At("projects/" + strconv.FormatInt(s.about.ID, 10) + "/packages/"),
		s.At("projects/" + url.PathEscape(s.about.Path) + "/packages/")} {
		if strings.HasPrefix(address, begin) {
			return true
		}
	}
	return false
}
