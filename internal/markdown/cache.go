package markdown

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// Cache keeps documents under the hash of their source within a bounded memory,
// the least recently used going first. A document does not depend on who reads it,
// nor where it stands: that is what [Document.HTML] adds. Safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	limit  int64
	size   int64
	order  *list.List // of *keptDocument
	byHash map[hash]*list.Element
}

type hash [sha256.Size]byte

type keptDocument struct {
	hash hash
	doc  *Document
}

// NewCache makes a cache of at most limit bytes.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit, order: list.New(), byHash: map[hash]*list.Element{}}
}

// Get gives the document of a source that was parsed before, or nil.
func (c *Cache) Get(source string) *Document { return c.get(sha256.Sum256([]byte(source))) }

func (c *Cache) get(key hash) *Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byHash[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*keptDocument).doc
}

// Parse is [Parse], of what is not kept, and keeps it.
func (c *Cache) Parse(source string) *Document {
	key := hash(sha256.Sum256([]byte(source)))
	if doc := c.get(key); doc != nil {
		return doc
	}
	doc := Parse(source)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHash[key] != nil || doc.bytes() > c.limit/4 {
		return doc
	}
	c.byHash[key] = c.order.PushFront(&keptDocument{key, doc})
	c.size += doc.bytes()
	for c.size > c.limit {
		last := c.order.Remove(c.order.Back()).(*keptDocument)
		delete(c.byHash, last.hash)
		c.size -= last.doc.bytes()
	}
	return doc
}

// bytes is about what a document takes, with its plain text.
func (d *Document) bytes() int64 {
	const entry, span, reference = 400, 40, 150
	references := len(d.refs.Logins) + len(d.refs.Issues) + len(d.refs.Commits) + len(d.refs.Closes)
	return entry + 2*int64(len(d.html)) + span*int64(len(d.spans)) + reference*int64(references)
}

// Cost is how many bytes of memory it takes at most to parse a source of that many
// bytes, whatever is in it: a test holds it.
func Cost(source int) int64 { return costFactor * int64(min(source, MaxSource)) }

// costFactor is what goldmark takes for a byte of the worst text within the bounds.
const costFactor = 384
