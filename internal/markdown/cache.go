package markdown

import (
	"crypto/sha256"

	"arbor/internal/cache"
)

// Cache keeps documents under the hash of their source within a bounded memory.
// A document does not depend on its reader or location: those are what
// [Document.HTML] adds. Safe for concurrent use.
type Cache struct {
	byHash *cache.Cache[hash, *Document]
}

type hash = [sha256.Size]byte

// NewCache returns a cache of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{cache.New(limit, func(_ hash, d *Document) int64 { return d.bytes() })}
}

// Get returns the cached document of a source, or nil.
func (c *Cache) Get(source string) *Document {
	d, _ := c.byHash.Get(cache.Forever, sha256.Sum256([]byte(source)))
	return d
}

// Parse returns the document of a source from the cache, or parses and caches it.
func (c *Cache) Parse(source string) *Document {
	d, _ := c.byHash.Read(cache.Forever, sha256.Sum256([]byte(source)), func() (*Document, error) {
		return Parse(source), nil
	})
	return d
}

// bytes is the approximate memory of a document, with its plain text.
func (d *Document) bytes() int64 {
	const entry, span, reference = 400, 40, 150
	references := len(d.refs.Logins) + len(d.refs.Issues) + len(d.refs.Commits) + len(d.refs.Closes)
	return entry + 2*int64(len(d.html)) + span*int64(len(d.spans)) + reference*int64(references)
}

// Cost is the most memory, in bytes, that parsing any source of that many bytes takes.
// A test holds that for the worst texts known.
func Cost(source int) int64 { return costFactor * int64(min(source, MaxSource)) }

// costFactor is the bytes of memory that goldmark takes for a byte of the worst text.
const costFactor = 384

// Stats returns the statistics of the cache, under a name.
func (c *Cache) Stats(name string) cache.Stats { return c.byHash.Stats(name) }
