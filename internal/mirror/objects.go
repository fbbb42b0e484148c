package mirror

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/lfs"
	"arbor/internal/lfs/client"
	"arbor/internal/repo"
)

// How objects of Git LFS are copied.
const (
	maxObjects = 100_000          // that a mirror has to copy
	objectTime = 30 * time.Minute // of a run: after that, the refs are copied without the rest
	objectWait = time.Hour        // until a push mirror that could not copy all tries again
	notedPart  = 2000             // objects that are noted in one transaction
)

// objectError says why objects of Git LFS were not copied. Branches and tags were.
type objectError struct {
	left   int
	why    string
	absent bool // the source does not have them, and nothing else is wrong
}

// Error is for the administrators of the repository.
func (e *objectError) Error() string {
	if e.left == 0 {
		return "the objects of Git LFS were not copied: " + e.why
	}
	if e.left == 1 {
		return "1 object of Git LFS is not copied yet: " + e.why
	}
	return fmt.Sprintf("%d objects of Git LFS are not copied yet: %s", e.left, e.why)
}

// add counts a failure; the text of the first one stays.
func (e *objectError) add(err error) *objectError {
	if e == nil {
		return &objectError{why: reasonOf(err), absent: client.Absent(err)}
	}
	e.absent = e.absent && client.Absent(err)
	return e
}

// reasonOf is why an object was not copied.
func reasonOf(err error) string {
	var refusal *client.Refusal
	var remote *git.RemoteError
	var stop stopError
	switch {
	case errors.As(err, &stop):
		return stop.Error()
	case errors.As(err, &refusal):
		return refusal.Error()
	case errors.As(err, &remote):
		return remote.Reason
	case errors.Is(err, context.DeadlineExceeded):
		return "copying them took too long"
	case errs.Is(err, errs.Malformed):
		return "the download of an object was too slow, or was interrupted"
	case errs.KindOf(err) != errs.Internal:
		return repo.ErrText(err)
	}
	return internalErrorText
}

// objectServer returns the API of Git LFS at the other side of a mirror. Errors: stopError, *git.RemoteError.
func (s *Service) objectServer(ctx context.Context, m *Mirror, remote git.Remote) (*client.Server, error) {
	at, err := url.Parse(m.URL)
	if err != nil {
		return nil, &git.RemoteError{Reason: err.Error()}
	}
	if at.Scheme == "ssh" {
		return s.authorizeSSH(ctx, m, at)
	}
	header := http.Header{}
	if remote.Username != "" || remote.Password != "" {
		header.Set("Authorization", "Basic "+
			base64.StdEncoding.EncodeToString([]byte(remote.Username+":"+remote.Password)))
	}
	return client.New(client.Base(at), header, s.Networks), nil
}

// findObjects notes the objects that the histories of tips name, but for those of not, and that a mirror has to copy:
// those that a pull mirror lacks, and those that a push mirror has. The first run searches the histories of all refs.
func (s *Service) findObjects(ctx context.Context, m *Mirror, objects *git.Repository, tips, not []git.SHA) error {
	named, err := lfs.Named(ctx, objects, tips, not, maxObjects)
	if err != nil && !errs.Is(err, errs.TooLarge) {
		return err
	}
	tooMany := err
	var list []lfs.Pointer
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		has, lacks, err := lfs.Split(tx, m.RepoID, named)
		if list = lacks; m.Push {
			list = has
		}
		n, countErr := countObjects(tx, m)
		if err == nil && countErr == nil && n+len(list) > maxObjects {
			list = list[:max(maxObjects-n, 0)]
			tooMany = errs.Newf(errs.TooLarge, "there are more than %d objects to copy", maxObjects)
		}
		return errors.Join(err, countErr)
	})
	for part := range slices.Chunk(list, notedPart) {
		if err == nil {
			m.lacks = true
			err = s.db.Write(ctx, func(tx *db.Tx) error {
				if err := m.mayMove(tx); err != nil {
					return err
				}
				return noteObjects(tx, m, part)
			})
		}
	}
	if err == nil && !m.searched {
		m.searched = true
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			if err := m.mayMove(tx); err != nil {
				return err
			}
			return noteSearched(tx, m)
		})
	}
	if err == nil {
		err = tooMany
	}
	return err
}

// copyObjects copies the objects that are noted, those that can be. Error: *objectError.
func (s *Service) copyObjects(ctx context.Context, m *Mirror, a *repo.Access, remote git.Remote) error {
	if !m.lacks || s.lfs.Off() {
		return nil
	}
	run, cancel := context.WithTimeout(ctx, objectTime)
	defer cancel()
	var failed *objectError
	server, err := s.objectServer(run, m, remote)
	for after := ""; err == nil; {
		var list []lfs.Pointer
		err = s.db.Read(run, func(tx *db.Tx) (err error) {
			if err = m.mayMove(tx); err == nil {
				list, err = objectsAfter(tx, m, after, client.MaxBatch)
			}
			return err
		})
		if err != nil || len(list) == 0 {
			break
		}
		after = list[len(list)-1].OID
		var done []string
		done, failed, err = s.copyPart(run, m, a, server, list, failed)
		if dropErr := s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
			return dropObjects(tx, m, done)
		}); dropErr != nil {
			return dropErr
		}
	}
	if err != nil {
		s.warn(run, "objects of Git LFS were not copied", m.ID, err)
		failed = failed.add(err)
	}
	if failed == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		failed.left, err = countObjects(tx, m)
		return err
	})
	if err != nil {
		return err
	}
	return failed
}

// copyPart copies some objects. done are those that are copied or need no copy. Objects that could not be copied
// are added to failed. err is not nil if the remaining objects cannot be copied either.
func (s *Service) copyPart(
	ctx context.Context, m *Mirror, a *repo.Access, server *client.Server, list []lfs.Pointer, failed *objectError,
) (done []string, _ *objectError, err error) {
	answers, err := server.Batch(ctx, m.Push, list)
	if err != nil {
		return nil, failed, err
	}
	for _, p := range list {
		answer, said := answers[p.OID]
		if answer.Pointer = p; !said {
			answer.Error = &lfs.BatchError{Code: http.StatusNotFound}
		}
		if m.Push {
			err = s.sendObject(ctx, m, a, server, answer)
		} else {
			err = s.bringObject(ctx, m, a, server, answer)
		}
		switch {
		case err == nil:
			done = append(done, p.OID)
		case ctx.Err() != nil:
			return done, failed, ctx.Err()
		case affectsAll(err):
			return done, failed, err
		default:
			failed = failed.add(err)
		}
	}
	return done, failed, nil
}

// affectsAll reports whether an error affects all objects and not only one: a quota, a full disk, a stopped mirror.
func affectsAll(err error) bool {
	if refusal, ok := errors.AsType[*client.Refusal](err); ok {
		return refusal.Status == http.StatusTooManyRequests || refusal.Status == http.StatusInsufficientStorage
	}
	kind := errs.KindOf(err)
	return kind == errs.Forbidden || kind == errs.NoRoom || kind == errs.Conflict || kind == errs.Unavailable
}

// bringObject gets an object from the source.
func (s *Service) bringObject(
	ctx context.Context, m *Mirror, a *repo.Access, server *client.Server, o lfs.BatchObject,
) error {
	in, err := server.Open(ctx, o)
	if err != nil {
		return err
	}
	defer in.Close()
	return s.lfs.Bring(ctx, a.ID, o.Pointer, in, m.mayMove)
}

// sendObject sends an object to the target, unless that has it, or it is gone here.
func (s *Service) sendObject(
	ctx context.Context, m *Mirror, a *repo.Access, server *client.Server, o lfs.BatchObject,
) error {
	if _, wanted := o.Actions["upload"]; !wanted && o.Error == nil {
		return nil
	}
	// The target may have taken the earlier objects slowly. Check that the mirror may still run.
	if err := s.db.Read(ctx, m.mayMove); err != nil {
		return err
	}
	var in io.ReadCloser
	object, err := s.lfs.Find(ctx, a, o.Pointer)
	if err == nil {
		in, err = s.lfs.Open(ctx, object)
	}
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return server.Send(ctx, o, in)
}
