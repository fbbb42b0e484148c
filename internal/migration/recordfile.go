package migration

import (
	"encoding/json"
	"time"
)

// Release is a release.
type Release struct {
	ID          string    `json:"id"`
	Tag         string    `json:"tag"`
	Target      string    `json:"target"`
	Name        *string   `json:"name,omitempty"`
	Body        *string   `json:"body,omitempty"`
	Draft       bool      `json:"draft,omitempty"`
	Prerelease  bool      `json:"prerelease,omitempty"`
	MakeLatest  string    `json:"make_latest,omitempty"` // true, false or legacy
	Latest      bool      `json:"latest,omitempty"`
	Author      string    `json:"author,omitempty"`
	Publisher   string    `json:"publisher,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	PublishedAt time.Time `json:"published_at,omitzero"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Key is the id.
func (r *Release) Key() string { return r.ID }

// File says where the content of a record lies, and what it is.
type File struct {
	Path   string `json:"path"` // relative to the folder, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"`
}

// Asset is a file of a release.
type Asset struct {
	ID          string    `json:"id"`
	Release     string    `json:"release"`
	Name        string    `json:"name"`
	Label       *string   `json:"label,omitempty"`
	ContentType string    `json:"content_type"`
	Uploader    string    `json:"uploader,omitempty"`
	Downloads   int64     `json:"downloads,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	File        File      `json:"file"`
}

// Key is the id.
func (a *Asset) Key() string { return a.ID }

// LFSObject is an object of Git LFS.
type LFSObject struct {
	OID  string `json:"oid"`
	File File   `json:"file"`
}

// Key is the object's id.
func (o *LFSObject) Key() string { return o.OID }

// Attachment is a file that people put into texts, which name it by an address that ends in its id.
type Attachment struct {
	ID          string    `json:"id"` // 26 letters and digits
	Name        string    `json:"name"`
	ContentType string    `json:"content_type"`
	Uploader    string    `json:"uploader,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	File        File      `json:"file"`
}

// Key is the id.
func (a *Attachment) Key() string { return a.ID }

// Ruleset is a ruleset, or the protection of a pattern of branches.
type Ruleset struct {
	ID          string          `json:"id"`
	Protection  bool            `json:"protection,omitempty"`
	Name        string          `json:"name"`        // of a protection: the pattern
	Target      string          `json:"target"`      // branch, tag or push
	Enforcement string          `json:"enforcement"` // disabled, evaluate or active
	Body        json.RawMessage `json:"body"`        // conditions and rules
}

// Key is the id.
func (r *Ruleset) Key() string { return r.ID }

// Hook is a webhook. Its secret is in no export.
type Hook struct {
	ID          string   `json:"id"`
	URL         string   `json:"url"`
	ContentType string   `json:"content_type"` // json or form
	Insecure    bool     `json:"insecure_ssl,omitempty"`
	Active      bool     `json:"active"`
	Events      []string `json:"events"`
	HadSecret   bool     `json:"had_secret,omitempty"`
}

// Key is the id.
func (h *Hook) Key() string { return h.ID }
