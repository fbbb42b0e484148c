package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's own names
	"encoding/hex"
	"fmt"
	"sync"
)

// writeQueue lets requests that write to one repository at the same time share
// a pack, and so its syncs.
type writeQueue struct {
	mu      sync.Mutex
	waiting []*writeRequest
	busy    bool // a goroutine is writing what waits
}

// writeRequest is what one caller wants written.
type writeRequest struct {
	objects []packed
	done    chan error // buffered
}

// maxSharedPack is the size in bytes past which no further request joins a
// pack: far from the 2 GiB of a plain index.
const maxSharedPack = 64 << 20

// WriteObjects writes objects and gives their SHAs, in order. When it returns
// without an error they are durable, and every reader finds them. An object
// that is there already is not written again; the same one twice is fine.
// Whether contents make sense is the caller's business (see BuildTree, Commit.Encode).
//
// What requests write at the same time goes into one pack; Pack and MergeSmall
// consolidate. When ctx ends early the objects may be written or not, which
// harms nobody.
func (r *Repository) WriteObjects(ctx context.Context, objects []NewObject) ([]SHA, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	if err := r.Init(); err != nil {
		return nil, err
	}
	request := &writeRequest{objects: make([]packed, 0, len(objects)), done: make(chan error, 1)}
	shas := make([]SHA, len(objects))
	for i, o := range objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := r.git.deflaters.pack(o)
		if err != nil {
			return nil, err
		}
		shas[i] = SHA(hex.EncodeToString(p.id[:]))
		request.objects = append(request.objects, p)
	}
	r.enqueue(request)
	select {
	case err := <-request.done:
		if err != nil {
			return nil, fmt.Errorf("git: writing objects: %w", err)
		}
		r.rememberTrees(shas, objects)
		return shas, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enqueue hands the request to the goroutine that writes, starting one when
// there is none.
func (r *Repository) enqueue(request *writeRequest) {
	q := &r.git.state(r.dir).writes
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, request)
	if !q.busy {
		q.busy = true
		go r.writeWaiting(q)
	}
}

// take takes off the queue what fits one pack; nothing ends the writing.
func (q *writeQueue) take() []*writeRequest {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && size < maxSharedPack {
		for _, o := range q.waiting[n].objects {
			size += len(o.bytes)
		}
		n++
	}
	taken := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	if n == 0 {
		q.busy, q.waiting = false, nil
	}
	return taken
}

// writeWaiting writes pack after pack until nothing waits.
func (r *Repository) writeWaiting(q *writeQueue) {
	for {
		requests := q.take()
		if len(requests) == 0 {
			return
		}
		err := r.writePack(requests)
		for _, request := range requests {
			request.done <- err
		}
	}
}

// writePack writes one durable pack with those objects of the requests that
// are not in a pack yet.
func (r *Repository) writePack(requests []*writeRequest) error {
	seen := map[[sha1.Size]byte]bool{}
	var objects []packed
	for _, request := range requests {
		for _, o := range request.objects {
			if !seen[o.id] {
				seen[o.id] = true
				objects = append(objects, o)
			}
		}
	}
	objects, err := r.notPacked(objects)
	if err != nil {
		return err
	}
	dir := r.path("objects", "pack")
	if len(objects) == 0 {
		// Somebody else may have moved the pack in, and not synced yet.
		return syncDir(dir)
	}
	p, err := newPackFiles(dir, len(objects))
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err = p.add(o); err != nil {
			break
		}
	}
	if err == nil {
		_, err = p.keep()
	}
	if err != nil {
		p.drop()
	}
	return err
}

// notPacked leaves out the objects that the repository's packs hold. It asks
// the indexes and no process: for what is new, git would look at its files
// again for each object. What it overlooks is stored twice, until packed.
func (r *Repository) notPacked(objects []packed) ([]packed, error) {
	packs, err := r.packs()
	if err != nil {
		return nil, err
	}
	for _, pack := range packs {
		x, err := openIndex(r.path("objects", "pack", pack.name+".idx"))
		if err != nil {
			continue // combined with others meanwhile
		}
		kept := objects[:0:0]
		for _, o := range objects {
			if found, err := x.hasID(o.id[:]); err != nil || !found {
				kept = append(kept, o)
			}
		}
		objects = kept
		_ = x.close()
		if len(objects) == 0 {
			break
		}
	}
	return objects, nil
}
