package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// Manifest lists the content of a backup. It is written last, so a folder without one is not a backup.
type Manifest struct {
	Format   int          `json:"format"`
	At       time.Time    `json:"at"`     // the moment that the backup holds, by the database's clock
	Newest   time.Time    `json:"newest"` // when the newest thing in it was made or changed
	Versions []db.Version `json:"migrations"`
	Tables   File         `json:"tables"`
	Files    []File       `json:"files"` // by path
}

// File is a file of the data folder.
type File struct {
	Path string `json:"path"` // in the data folder, with slashes
	Size int64  `json:"size"`
	// nanoseconds since 1970, to tell whether it is still the same
	Modified int64  `json:"modified,omitempty"`
	SHA256   string `json:"sha256"`
}

const (
	format     = 1
	tablesPath = "tables" // of Manifest.Tables, which is not a file of the data folder
)

// ErrDamaged means that a backup is incomplete or invalid: cut short, altered, or not
// finished.
var ErrDamaged = errors.New("the backup is cut short or altered")

// encode writes a manifest: a line of JSON, and one with its checksum.
func (m *Manifest) encode() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return fmt.Appendf(text, "\n%x\n", sum), nil
}

// parseManifest reads a manifest, and refuses one whose files would not stay in the data
// folder.
func parseManifest(text []byte) (*Manifest, error) {
	body, sum, ok := bytes.Cut(text, []byte("\n"))
	digest := sha256.Sum256(body)
	if !ok || string(sum) != hex.EncodeToString(digest[:])+"\n" {
		return nil, fmt.Errorf("%w: its manifest does not match its checksum", ErrDamaged)
	}
	var header struct{ Format int }
	if err := json.Unmarshal(body, &header); err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	if header.Format != format {
		return nil, fmt.Errorf("the backup has the form %d, and this program reads the form %d",
			header.Format, format)
	}
	m := &Manifest{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	return m, m.check()
}

// check refuses what no backup says of its files.
func (m *Manifest) check() error {
	if !digestText.MatchString(m.Tables.SHA256) || m.Tables.Path != tablesPath {
		return fmt.Errorf("%w: its manifest names no tables", ErrDamaged)
	}
	last := ""
	for _, f := range m.Files {
		if f.Size < 0 || f.Path <= last || !digestText.MatchString(f.SHA256) || !mayHold(f.Path) {
			return fmt.Errorf("%w: its manifest names the file %q", ErrDamaged, f.Path)
		}
		last = f.Path
	}
	return nil
}

var (
	digestText = regexp.MustCompile(`^[0-9a-f]{64}$`)
	objectFile = regexp.MustCompile(
		`^(HEAD|config|objects/(pack/pack-[0-9a-f]+\.(pack|idx|rev)|[0-9a-f]{2}/[0-9a-f]{38,62}))$`)
)

// mayHold reports whether a backup may hold a file of the data folder: one of those in a
// repository's folder that Git's objects are in, one of package file's, or a key or its certificate.
func mayHold(path string) bool {
	if !fs.ValidPath(path) || strings.ContainsAny(path, "\\\x00") {
		return false
	}
	if file.IsPath(path) {
		return true
	}
	parts := strings.SplitN(path, "/", 4)
	switch {
	case len(parts) == 2:
		return slices.Contains(keyDirs, parts[0])
	case len(parts) < 4 || parts[0] != repositoriesDir || !objectFile.MatchString(parts[3]):
		return false
	}
	id, purges, kind := repo.FolderOf(parts[2])
	return kind == repo.FolderKept &&
		path[len(repositoriesDir)+1:len(path)-len(parts[3])-1] == repo.FolderPath(
			id, purges)
}
