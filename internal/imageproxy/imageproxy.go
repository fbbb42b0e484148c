// Package imageproxy shows the images of other hosts that texts have. A text names an address of this server in their
// place, so a reader's browser asks no other host, which would learn who reads what, and pages need no policy that
// lets it.
//
//	imageproxy.go  texts whose images have signed addresses
//	fetch.go       GET /assets/images/{digest}/{address}: one image
//	kind.go        which bytes are images
//
// The signature says that a text of this server has the image: nobody else can make the server request an
// address. Requests go by the rules of webhooks (package outgoing), and never to inner networks. Nothing is stored.
package imageproxy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"arbor/internal/hook/outgoing"
	"arbor/internal/markdown"
	"arbor/internal/web"
)

// Bounds of what is signed. Images beyond them are links.
const (
	MaxImages  = 200  // in one text
	maxAddress = 2048 // bytes
)

// Proxy shows images of other hosts. A nil Proxy makes links of them. Safe for concurrent use.
type Proxy struct {
	key    []byte
	client *outgoing.Client
}

// New returns a Proxy that signs with a key. It may also fetch from the given networks, for tests.
func New(key []byte, allowed outgoing.Networks) *Proxy { return &Proxy{key, outgoing.New(allowed)} }

// HTML returns sanitized HTML with other addresses for its images of other hosts. Images of this site stay as they
// are: browsers ask for these with the rights of the reader.
func (p *Proxy) HTML(ctx context.Context, body string) string {
	info, signed := web.From(ctx), 0
	_, host, _ := strings.Cut(info.Site, "://")
	return markdown.Images(body, func(address string) (string, bool) {
		u, err := url.Parse(address)
		switch {
		case err != nil:
			return "", false
		case u.Host == "" || strings.EqualFold(u.Host, host):
			return address, true
		case p == nil || u.User != nil || len(address) > maxAddress || signed >= MaxImages:
			return "", false
		}
		signed++
		return info.Page(p.path(address)), true
	})
}

const root = "/assets/images/"

// path is where an image is shown on this server.
func (p *Proxy) path(address string) string {
	return root + p.digest(address) + "/" + base64.RawURLEncoding.EncodeToString([]byte(address))
}

// digest signs an address.
func (p *Proxy) digest(address string) string {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte("arbor image\x00" + address))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:20])
}

// open returns the address that a path names, if this server has signed it.
func (p *Proxy) open(digest, encoded string) (address string, ok bool) {
	if p == nil || len(encoded) > 2*maxAddress {
		return "", false
	}
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !hmac.Equal([]byte(digest), []byte(p.digest(string(data)))) {
		return "", false
	}
	return string(data), true
}
