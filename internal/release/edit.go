package release

import (
	"context"
	"errors"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Edit holds the fields of a release that a caller sets. The others stay as they are.
type Edit struct {
	Tag        web.Opt[string]
	Target     web.Opt[string]
	Name       web.Opt[string] // null and an empty text take it away
	Body       web.Opt[string] // the same
	Draft      web.Opt[bool]
	Prerelease web.Opt[bool]
	Choice     Choice  // 0: none was given
	Drop       []int64 // assets that go, in the same transaction; what is none of the release's is ignored
}

// apply returns the release with the edit applied.
func (e *Edit) apply(r Release, by account.ID, now db.Time) *Release {
	wasDraft := r.Draft || r.ID == 0
	r.Tag, r.Target = e.Tag.Or(r.Tag), e.Target.Or(r.Target)
	if e.Name.Set {
		r.Name = web.OrNil(e.Name.Value)
	}
	if e.Body.Set {
		r.Body = web.OrNil(e.Body.Value)
	}
	r.Draft, r.Prerelease = e.Draft.Or(r.Draft), e.Prerelease.Or(r.Prerelease)
	if e.Choice != 0 {
		r.Choice = e.Choice
	}
	if wasDraft && !r.Draft {
		r.PublisherID, r.PublishedAt = by, now
	}
	r.UpdatedAt = now
	return &r
}

// check returns the 422 for what is wrong with the values, or nil; fresh: they are a new release's.
func (e *Edit) check(fresh bool) error {
	f := web.Faults{Resource: Resource}
	if e.Tag.Value == "" && (fresh || e.Tag.Set) {
		f.Wrong("tag_name", errs.MissingField, "")
	}
	f.CheckText("tag_name", e.Tag.Value, MaxTag)
	f.CheckText("target_commitish", e.Target.Value, MaxTag)
	f.CheckText("name", e.Name.Value, MaxName)
	f.CheckText("body", e.Body.Value, MaxBody)
	return f.Err()
}

// ReadChoice reads the name of a choice. Error: 422.
func ReadChoice(name string) (Choice, error) {
	f := web.Faults{Resource: Resource}
	f.CheckEnum("make_latest", name, choices[:]...)
	return Choice(slices.Index(choices[:], name) + 1), f.Err()
}

// base is what a release needs of its repository, found before the transaction that writes it.
type base struct {
	date db.Time         // of the commit; zero: there is none
	at   git.SHA         // where the tag is, or will be; not of a draft without it
	tag  *repo.RefUpdate // makes the tag; nil: it is there, or the release is a draft
}

// errAgain says that what was found before a transaction does not hold in it.
var errAgain = errors.New("release: the repository has changed")

// maxTries is how often a change is retried because of that.
const maxTries = 5

// Create creates a release. Errors: 404 when the repository is gone; 422 for a tag that another published
// release has, or that no ref can be called; for a target that is not a commit.
func (s *Service) Create(ctx context.Context, a *repo.Access, e Edit) (*Release, error) {
	if err := e.check(true); err != nil {
		return nil, err
	}
	begin := Release{RepoID: a.ID, AuthorID: a.Caller.ID, PublisherID: a.Caller.ID, Target: a.DefaultBranch,
		Choice: MakeLatest}
	var made *Release
	err := s.write(ctx, a, &e, func(*db.Tx) (*Release, error) { return &begin, nil },
		func(tx *db.Tx, _, r *Release) (err error) {
			made = r
			if r.CreatedAt.IsZero() {
				r.CreatedAt = tx.Now
			}
			if err := insert(tx, r); err != nil {
				return err
			}
			if err := settleLatest(tx, change{after: r, chosen: true}); err != nil {
				return err
			}
			return s.tell(tx, nil, r, a.Caller)
		})
	return made, err
}

// Edit changes a release; one that is published by it gets its tag. Errors are those of Create; 404.
func (s *Service) Edit(ctx context.Context, a *repo.Access, id int64, e Edit) (*Release, error) {
	if err := e.check(false); err != nil {
		return nil, err
	}
	var made *Release
	err := s.write(ctx, a, &e, func(tx *db.Tx) (*Release, error) { return byID(tx, a.ID, id) },
		func(tx *db.Tx, before, r *Release) (err error) {
			made = r
			err = account.WrittenBy(tx, a.Caller.ID, r.AuthorID, func() error { return update(tx, r) })
			if err != nil {
				return err
			}
			if err := settleLatest(tx, change{before, r, e.Choice != 0}); err != nil {
				return err
			}
			if err := s.dropAssets(tx, r, e.Drop); err != nil {
				return err
			}
			return s.tell(tx, before, r, a.Caller)
		})
	return made, err
}

// write changes the release that find returns: store writes it, in the transaction that makes its tag. It
// is retried when the repository changes in between.
func (s *Service) write(ctx context.Context, a *repo.Access, e *Edit, find func(tx *db.Tx) (*Release, error),
	store func(tx *db.Tx, before, after *Release) error) error {
	for try := 1; ; try++ {
		var planned *Release
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			r, err := find(tx)
			if err == nil {
				planned = e.apply(*r, a.Caller.ID, tx.Now)
			}
			return err
		})
		if err != nil {
			return err
		}
		on, err := s.findBase(ctx, a, planned, e)
		if err != nil {
			return err
		}
		change := func(tx *db.Tx) error {
			if err := repo.Lock(tx, a.ID); err != nil {
				return err
			}
			before, err := find(tx)
			if err != nil {
				return err
			}
			after := e.apply(*before, a.Caller.ID, tx.Now)
			if !on.date.IsZero() {
				after.CreatedAt = on.date
			}
			if err := s.ensureTag(tx, a, planned, after, on); err != nil {
				return err
			}
			return store(tx, before, after)
		}
		if on.tag != nil {
			err = s.repos.WritePush(ctx, pushOf(a, *on.tag), change)
		} else {
			err = s.db.WriteAs(ctx, a, change)
		}
		if !errors.Is(err, errAgain) {
			return err
		}
		if try == maxTries {
			return errs.New(errs.Conflict, "The repository changes all the time. Try again.")
		}
	}
}

func pushOf(a *repo.Access, u repo.RefUpdate) repo.Push {
	return repo.Push{RepoID: a.ID, Purges: a.Purges, Updates: []repo.RefUpdate{u}, Atomic: true, As: a}
}

// ensureTag checks that a published release has its tag, and creates it if it is planned. Errors:
// errAgain; 422 for a tag that conflicts with another one.
func (s *Service) ensureTag(tx *db.Tx, a *repo.Access, planned, r *Release, on base) error {
	if r.Tag != planned.Tag || r.Target != planned.Target || r.Draft != planned.Draft {
		return errAgain
	}
	if r.Draft {
		return nil
	}
	now, err := repo.TagNow(tx, a.ID, r.Tag)
	switch {
	case err != nil || now != "" && now == on.at:
		return err
	case now != "" || on.tag == nil:
		return errAgain
	}
	refused, err := s.repos.MoveRefsIn(tx, pushOf(a, *on.tag))
	if err != nil {
		return err
	}
	if errs.Is(refused[0], errs.Conflict) {
		return errs.Wrap(errs.Invalid, "Published releases must have a valid tag", refused[0])
	}
	return refused[0]
}

// findBase finds the commit of a release, and how its tag is made if that is missing. Errors: 422.
func (s *Service) findBase(ctx context.Context, a *repo.Access, r *Release, e *Edit) (on base, err error) {
	if git.CheckRefName("refs/tags/"+r.Tag) != nil {
		return on, invalid("tag_name", errs.Custom, "tag_name is not well-formed")
	}
	if strings.HasPrefix(r.Tag, untaggedPrefix) {
		return on, invalid("tag_name", errs.Custom,
			"tag_name may not begin with "+untaggedPrefix+", as addresses of drafts")
	}
	sha, err := s.repos.Ref(ctx, a, "refs/tags/"+r.Tag)
	if err == nil {
		on.at = sha
		on.date, err = s.dateOf(ctx, a, sha)
		return on, err
	}
	if !errs.Is(err, errs.NotFound) {
		return on, err
	}
	sha, err = s.target(ctx, a, r.Target)
	if errs.Is(err, errs.Invalid) && r.Draft && !e.Target.Given() {
		return on, nil // the default branch is not there yet
	}
	if err != nil {
		return on, err
	}
	if on.date, err = s.dateOf(ctx, a, sha); err != nil || r.Draft {
		return on, err
	}
	u, err := s.repos.NewTag(ctx, a, r.Tag, sha)
	on.at, on.tag = sha, &u
	return on, err
}

// target finds the commit that a target_commitish names: a branch, or a SHA. Error: 422.
func (s *Service) target(ctx context.Context, a *repo.Access, name string) (git.SHA, error) {
	sha, err := git.ParseSHA(name)
	if err == nil {
		err = s.repos.CheckNamed(ctx, a, sha)
	} else {
		sha, err = s.repos.Ref(ctx, a, "refs/heads/"+strings.TrimPrefix(name, "refs/heads/"))
	}
	if err == nil {
		sha, err = s.commitOf(ctx, a, sha)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return "", errs.Validation(errs.Field{Resource: Resource, Field: "target_commitish",
			Code:  errs.InvalidField,
			Value: errs.Clip(name)})
	}
	return sha, err
}

// commitOf follows annotated tags. Errors: 404, 422 for an object that is not a commit.
func (s *Service) commitOf(ctx context.Context, a *repo.Access, sha git.SHA) (git.SHA, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	return objects.PeelToCommit(ctx, sha)
}

// dateOf returns the date of the commit that an object refers to; zero if there is none, or if its date
// cannot be read.
func (s *Service) dateOf(ctx context.Context, a *repo.Access, sha git.SHA) (db.Time, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return 0, err
	}
	defer release()
	if sha, err = objects.PeelToCommit(ctx, sha); errs.Is(err, errs.Invalid) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	c, err := objects.Commit(ctx, sha)
	if err != nil {
		return 0, err
	}
	when := c.Committer.When.UTC()
	if when.Unix() <= 0 || when.Year() > 9999 {
		return 0, nil
	}
	return db.FromTime(when), nil
}

// FollowPush turns the releases whose tags were deleted into drafts, in the transaction that did so.
func FollowPush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	var gone []string
	by := map[string]account.ID{}
	for _, u := range moved {
		if tag, ok := strings.CutPrefix(u.Name, "refs/tags/"); ok && u.New == git.ZeroSHA {
			gone, by[tag] = append(gone, tag), u.By
		}
	}
	drafts, err := unpublish(tx, repoID, gone)
	if err != nil || len(drafts) == 0 {
		return err
	}
	events := make([]hook.Event, len(drafts))
	for n, d := range drafts {
		events[n] = event(d.id, "unpublished", by[d.tag])
	}
	if err := hook.Record(tx, repoID, events...); err != nil {
		return err
	}
	// If the latest is a draft now, there is none.
	if _, err = latestOf(tx, repoID); errs.Is(err, errs.NotFound) {
		err = electLatest(tx, repoID)
	}
	return err
}

// FollowRename updates the drafts whose tags are to be created on a renamed branch.
func FollowRename(tx *db.Tx, repoID repo.ID, from, to string) error {
	return retarget(tx, repoID, from, to)
}
