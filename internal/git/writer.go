package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"arbor/internal/durable"
	"arbor/internal/git/object"
	"arbor/internal/git/packfile"
)

// writeQueue combines concurrent writes to one repository into
// one pack, so that they share its syncs.
type writeQueue struct {
	mu      sync.Mutex
	waiting []*writeRequest
	busy    bool // a goroutine is writing what waits

	// Of that goroutine alone:
	large    []packFile // packs whose indexes are asked
	listedAt time.Time
}

// writeRequest is what one caller wants written.
type writeRequest struct {
	objects []packfile.Object
	done    chan error // buffered
}

// maxSharedPack is the size in bytes past which no further request joins a
// pack: far from the 2 GiB of a plain index.
const maxSharedPack = 64 << 20

// WriteObjects writes objects and gives their SHAs, in order. When it returns
// without an error they are durable, and every reader finds them. An object
// that is there already is not written again; the same one twice is fine.
// Whether contents make sense is the caller's business (see BuildTree,
// Commit.Encode). Error: TooLarge for an object that no push may bring either.
//
// Requests that write at the same time share one pack; Maintain combines the packs
// later. When ctx ends early the objects may be written or not, which harms nobody.
func (r *Repository) WriteObjects(ctx context.Context, objects []NewObject) ([]SHA, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	if err := r.Init(); err != nil {
		return nil, err
	}
	request := &writeRequest{objects: make([]packfile.Object, 0, len(objects)), done: make(chan error, 1)}
	shas := make([]SHA, len(objects))
	for i, o := range objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := object.CheckSize(o.Type, int64(len(o.Data)), func() string { return string(o.SHA()) })
		if err != nil {
			return nil, err
		}
		p, err := r.git.packer.Pack(o)
		if err != nil {
			return nil, err
		}
		shas[i] = p.ID.SHA()
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
			size += len(o.Bytes)
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
		err := r.writePack(q, requests)
		for _, request := range requests {
			request.done <- err
		}
	}
}

// writePack writes one durable pack with those objects of the requests that
// are not in a pack yet.
func (r *Repository) writePack(q *writeQueue, requests []*writeRequest) error {
	seen := map[ID]bool{}
	var objects []packfile.Object
	for _, request := range requests {
		for _, o := range request.objects {
			if !seen[o.ID] {
				seen[o.ID] = true
				objects = append(objects, o)
			}
		}
	}
	objects, err := r.notPacked(q, objects)
	if err != nil {
		return err
	}
	dir := r.path("objects", "pack")
	if len(objects) == 0 {
		// Somebody else may have moved the pack in, and not synced yet.
		return r.sync(dir)
	}
	p, err := packfile.NewWriter(dir, len(objects))
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err = p.Add(o); err != nil {
			break
		}
	}
	if err == nil {
		err = r.finish(p)
	}
	if err != nil {
		p.Drop()
		return err
	}
	state := r.git.state(r.dir)
	for _, o := range objects {
		r.git.written.Put(treeKey{state, o.ID.SHA()}, struct{}{})
	}
	return nil
}

// finish makes a pack that is written durable and moves it in.
func (r *Repository) finish(p *packfile.Writer) error {
	k := r.keeper()
	files, err := p.Finish(k == nil)
	if err != nil {
		return err
	}
	if k == nil {
		return errors.Join(r.Place(files), durable.Sync(r.path("objects", "pack")))
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepTime)
	defer cancel()
	if err := k.Add(ctx, files); err != nil {
		return errors.Join(err, os.Remove(files.Index))
	}
	return r.Place(files)
}

// keepTime bounds how long the writers of a pack wait until it is kept.
const keepTime = time.Minute

// The bounds for how writers look for objects that exist already.
const (
	askedPack   = 1 << 20     // bytes of a pack whose index they ask
	listLargest = time.Second // how long they rely on the list of those
)

// notPacked leaves out the objects that were written here recently and those that
// large packs hold. It asks indexes and no process: for what is new, git would
// look at its files again for each object. What this overlooks is stored twice
// until packs are merged, which harms nobody; looking into each small pack
// would cost more than it saves.
func (r *Repository) notPacked(q *writeQueue, objects []packfile.Object) ([]packfile.Object, error) {
	s := r.git.state(r.dir)
	objects = slices.DeleteFunc(objects, func(o packfile.Object) bool {
		_, ok := r.git.written.Get(treeKey{s, o.ID.SHA()})
		return ok
	})
	if time.Since(q.listedAt) > listLargest {
		packs, err := r.packs()
		if err != nil {
			return nil, err
		}
		q.listedAt = time.Now()
		q.large = slices.DeleteFunc(packs, func(p packFile) bool { return p.size < askedPack })
	}
	for _, pack := range q.large {
		if len(objects) == 0 {
			break
		}
		x, err := packfile.OpenIndex(r.path("objects", "pack", pack.name+".idx"))
		if err != nil {
			continue // combined with others
		}
		objects = slices.DeleteFunc(objects, func(o packfile.Object) bool {
			found, err := x.HasID(o.ID[:])
			return found && err == nil
		})
		_ = x.Close()
	}
	return objects, nil
}
