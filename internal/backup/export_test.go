package backup

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// ParseManifest is parseManifest.
var ParseManifest = parseManifest

// Sealed returns a manifest's first line the right checksum.
func Sealed(text string) []byte {
	body, _, _ := strings.Cut(text, "\n")
	return fmt.Appendf([]byte(body), "\n%x\n", sha256.Sum256([]byte(body)))
}

// Nights has files of these sizes read in so many nights, and tells which were read, and the most in one
// night.
func Nights(files map[string]int64, nights int) (read map[string]bool, most int) {
	m := &Manifest{}
	for sum, size := range files {
		m.Files = append(m.Files, File{SHA256: sum, Size: size})
	}
	groups := m.groups()[1:] // without the tables
	read = map[string]bool{}
	last := progress{}
	at := time.Unix(0, 0)
	for range nights {
		at = at.Add(24 * time.Hour)
		list, next := due(groups, last, at)
		for _, g := range list {
			read[g.SHA256] = true
		}
		most = max(most, len(list))
		last = progress{next, at}
	}
	return read, most
}
