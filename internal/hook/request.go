package hook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// enterpriseVersion is the version of GitHub Enterprise Server whose payloads these are.
const enterpriseVersion = "3.19.0"

// userAgent begins as that of GitHub, by which receivers know it.
const userAgent = "GitHub-Hookshot/arbor"

// newRequest builds the request of a delivery.
func newRequest(h *Hook, d *Delivery, host string) (*http.Request, error) {
	body, contentType := d.Payload, "application/json"
	if h.Form {
		contentType = "application/x-www-form-urlencoded"
		body = []byte(url.Values{"payload": {string(d.Payload)}}.Encode())
	}
	r, err := http.NewRequest(http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	target, of := h.RepoID.String(), "repository"
	switch {
	case h.OrgID != 0:
		target, of = h.OrgID.String(), "organization"
	case h.AppID != 0:
		target, of = h.AppID.String(), "integration"
	}
	// Written as GitHub does, for programs that compare them as they came.
	for name, value := range map[string]string{
		"Accept": "*/*", "Content-Type": contentType, "User-Agent": userAgent,
		"X-GitHub-Delivery": h.guid(d.first()), "X-GitHub-Event": d.Event,
		"X-GitHub-Hook-ID":                       strconv.FormatInt(h.ID, 10),
		"X-GitHub-Hook-Installation-Target-ID":   target,
		"X-GitHub-Hook-Installation-Target-Type": of,
		"X-GitHub-Enterprise-Host":               host,
		"X-GitHub-Enterprise-Version":            enterpriseVersion,
	} {
		r.Header[name] = []string{value}
	}
	if h.Secret != nil {
		r.Header["X-Hub-Signature"] = []string{"sha1=" + sign(sha1.New, *h.Secret, body)}
		r.Header["X-Hub-Signature-256"] = []string{"sha256=" + sign(sha256.New, *h.Secret, body)}
	}
	return r, nil
}

func sign(algorithm func() hash.Hash, secret string, body []byte) string {
	mac := hmac.New(algorithm, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// attempt sends a delivery, and notes in it what came of that.
func (s *Sender) attempt(ctx context.Context, h *Hook, d *Delivery) {
	info := s.infoOf(h)
	d.URL, d.Code, d.Status, d.Received, d.Body = h.URL, 0, "", "{}", nil
	r, err := newRequest(h, d, info.Host())
	if err != nil {
		d.Status = "the address is none"
		return
	}
	d.Sent = flat(r.Header)
	a := s.client.Send(ctx, r, h.Insecure)
	d.Code, d.Status, d.Body, d.Duration = int64(a.Code), a.Status, a.Body, a.Took.Microseconds()
	if a.Header != nil {
		d.Received = flat(a.Header)
	}
}

// flat returns a header as JSON, each line once.
func flat(h http.Header) string {
	lines := map[string]string{}
	for name, values := range h {
		lines[name] = strings.ToValidUTF8(strings.ReplaceAll(strings.Join(values, ", "), "\x00", ""),
			"\uFFFD")
	}
	b, err := json.Marshal(lines)
	if err != nil {
		return "{}"
	}
	return string(b)
}
