package network

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// NewFork is how a caller wants a repository forked.
type NewFork struct {
	Organization      string // login of the owner to be; empty: the caller
	Name              string // empty: as the parent's, with a number behind it where that is taken
	DefaultBranchOnly bool   // leave the other branches and the tags out
	RoomKB            int64  // room that the quota must have beyond the fork, for what is about to be written to it
}

// fork is one fork on its way.
type fork struct {
	s    *Service
	from *repo.Access // as the request found it
	wish NewFork
	own  string // login of the owner to be

	refs   []repo.RefUpdate // that the fork begins with
	branch string           // the default one
	files  *repo.Carried    // nil: none
}

// Fork creates a fork of the repository of the access, whose caller is signed in, with its
// present branches and tags; or finds the repository of the network that the new owner
// has already, which may be the root. No refs below refs/pull come along.
//
// First an id is reserved, then the objects are brought, then one transaction adds the
// row and the refs. So if the server dies, there is a whole fork or none, and at most a
// folder that is swept away after a day.
//
// Errors: 403 for a repository without branches and tags; for a private one if an
// organization does not allow it, or if the new owner does not see the root (decision
// 62); and when the caller may not create there. 422 for an organization that does not
// exist, and for a name that is invalid or taken. 404 and 409 when the repository goes away or
// changes its visibility during the call.
func (s *Service) Fork(ctx context.Context, a *repo.Access, n NewFork) (*repo.Access, error) {
	if message := repo.CheckName(n.Name); n.Name != "" && message != "" {
		return nil, errs.Validation(errs.Field{Resource: repo.Resource, Field: "name", Code: errs.Custom, Message: message})
	}
	f := &fork{s: s, from: a, wish: n, own: n.Organization}
	if f.own == "" {
		f.own = a.Caller.Login
	}
	there, err := f.find(ctx)
	if err != nil || there != nil {
		return there, err
	}
	if err := f.chooseRefs(ctx); err != nil {
		return nil, err
	}
	id, there, err := f.reserve(ctx)
	if err != nil || there != nil {
		return there, err
	}
	made, err := f.build(ctx, id)
	if err != nil || made.ID != id {
		s.repos.Abandon(ctx, id)
	} else if made.Private {
		s.repos.Wrote(id) // its commit-graph is not made yet
	}
	return made, err
}

// owner finds the owner to be and checks that the caller may create there.
func (f *fork) owner(tx *db.Tx) (*account.Account, error) {
	owner, err := account.ByLogin(tx, f.own)
	if f.wish.Organization != "" && (errs.Is(err, errs.NotFound) ||
		err == nil && owner.Kind != account.Organization) {
		return nil, errs.Validation(errs.Field{Resource: repo.Resource, Field: "organization",
			Code:  errs.InvalidField,
			Value: f.wish.Organization, Message: "Organization " +
				strconv.Quote(f.wish.Organization) + " not found."})
	}
	if err == nil {
		_, err = repo.MayCreate(tx, f.from.Caller, owner, f.from.Private)
	}
	return owner, err
}

// find finds the fork that is there already, nil when there is none.
func (f *fork) find(ctx context.Context) (there *repo.Access, err error) {
	err = f.s.db.Read(ctx, func(tx *db.Tx) error {
		owner, err := f.owner(tx)
		if err == nil {
			there, err = f.existing(tx, owner.ID, f.from.ID)
		}
		return err
	})
	return there, err
}

// existing finds the owner's repository in the network of another, nil when there
// is none that the caller may see.
func (f *fork) existing(tx *db.Tx, ownerID account.ID, of repo.ID) (*repo.Access, error) {
	network, err := NetworkOf(tx, of)
	if err != nil {
		return nil, err
	}
	there, err := inNetwork(tx, f.from.Caller, network, ownerID)
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	return there, err
}

// chooseRefs reads the refs that the fork begins with.
func (f *fork) chooseRefs(ctx context.Context) error {
	refs, err := f.s.repos.Refs(ctx, f.from)
	if err != nil {
		return err
	}
	f.branch = strings.TrimPrefix(refs.Head, git.Heads)
	for _, ref := range refs.List {
		wanted := strings.HasPrefix(ref.Name, git.Heads) || strings.HasPrefix(ref.Name, git.Tags)
		if f.wish.DefaultBranchOnly {
			wanted = ref.Name == refs.Head
		}
		if wanted && !repo.IsQueueRef(ref.Name) {
			f.refs = append(f.refs, repo.RefUpdate{Name: ref.Name, Old: git.ZeroSHA, New: ref.SHA,
				Peeled: ref.Peeled})
		}
	}
	if len(f.refs) == 0 {
		return errs.New(errs.Forbidden,
			"The repository exists, but it contains no Git content. Empty repositories cannot be forked.")
	}
	return nil
}

// reserve reserves an id, unless the owner now has a fork. It checks what insert checks again, so that nothing is copied
// for a fork that will not be made.
func (f *fork) reserve(ctx context.Context) (id repo.ID, there *repo.Access, err error) {
	err = f.s.db.WriteAs(ctx, f.from, func(tx *db.Tx) error {
		parent, err := f.parent(tx)
		if err != nil {
			return err
		}
		owner, err := f.owner(tx)
		if err != nil {
			return err
		}
		if there, err = f.existing(tx, owner.ID, parent.ID); err != nil || there != nil {
			return err
		}
		if _, err := freeName(tx, owner.ID, f.names(parent.Name)); err != nil {
			return err
		}
		filesKB, err := f.s.repos.CarriedKB(tx, parent.ID)
		if err != nil {
			return err
		}
		err = f.s.repos.CheckQuota(tx, owner, repo.Growth{Repos: 1, KB: parent.SizeKB + filesKB + f.wish.RoomKB})
		if err == nil {
			id, err = repo.ReserveID(tx, owner.ID)
		}
		return err
	})
	return id, there, err
}

// maxNameTries is how often a fork repeats its transaction because another repository
// took the name.
const maxNameTries = 3

// build brings the objects and then the row.
func (f *fork) build(ctx context.Context, id repo.ID) (made *repo.Access, err error) {
	if err := f.bringObjects(ctx, id); err != nil {
		return nil, err
	}
	if f.files, err = f.s.repos.CarryFiles(ctx, f.from.ID); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	for try := 1; ; try++ {
		err = f.s.db.WriteAs(ctx, f.from, func(tx *db.Tx) (err error) {
			made, err = f.insert(tx, id)
			return err
		})
		if !errs.Is(err, errs.Invalid) || f.wish.Name != "" || try == maxNameTries {
			break
		}
	}
	// otherwise their rows may exist: the sweep removes the files if not
	if f.files != nil && !errors.Is(err, db.ErrOutcomeUnknown) && (err != nil || made.ID != id) {
		f.files.Discard(ctx)
	}
	return made, err
}

// bringObjects copies all objects reachable from the refs to the fork. For private repositories it does not
// link files and copies only objects reachable from a branch or a tag.
func (f *fork) bringObjects(ctx context.Context, id repo.ID) error {
	if !f.from.Private {
		return f.s.repos.LinkObjects(ctx, f.from, id)
	}
	from, release, err := f.s.repos.Git(ctx, f.from)
	if err != nil {
		return err
	}
	defer release()
	to, release, err := f.s.repos.OpenNew(ctx, repo.Folder{ID: id}, f.from.Packs)
	if err != nil {
		return err
	}
	defer release()
	tips := make([]git.SHA, len(f.refs))
	for i, ref := range f.refs {
		tips[i] = ref.New
	}
	return to.CopyHistories(ctx, from, tips)
}

// insert adds the row and the refs, unless the owner now has a fork.
func (f *fork) insert(tx *db.Tx, id repo.ID) (*repo.Access, error) {
	parent, network, err := f.lockParent(tx)
	if err != nil {
		return nil, err
	}
	owner, err := f.owner(tx)
	if err != nil {
		return nil, err
	}
	if there, err := f.existing(tx, owner.ID, parent.ID); err != nil || there != nil {
		return there, err
	}
	if err := f.s.repos.CheckQuota(tx, owner,
		repo.Growth{Repos: 1, KB: parent.SizeKB + f.wish.RoomKB, Hold: true}); err != nil {
		return nil, err
	}
	name, err := freeName(tx, owner.ID, f.names(parent.Name))
	if err != nil {
		return nil, err
	}
	r := &repo.Repo{
		ID: id, OwnerID: owner.ID, Name: name, Description: parent.Description, Homepage: parent.Homepage,
		Private: parent.Private, DefaultBranch: f.branch, SizeKB: parent.SizeKB,
		ParentID: parent.ID, NetworkID: network, Packs: min(1, f.from.Packs),
		CreatedAt: tx.Now, UpdatedAt: tx.Now, PushedAt: parent.PushedAt, Owner: *owner,
	}
	if err := f.s.repos.CreateIn(tx, r, f.from.Caller); err != nil {
		return nil, err
	}
	if parent.Private && r.Packs > 0 {
		if err := f.s.repos.Packs.Adopt(tx, parent.ID, id); err != nil {
			return nil, err
		}
	}
	if err := countFork(tx, parent.ID, network); err != nil {
		return nil, err
	}
	if err := repo.FirstRefs(tx, id, f.refs); err != nil {
		return nil, err
	}
	if f.files != nil {
		if err := f.files.Add(tx, id); err != nil {
			return nil, err
		}
	}
	if !parent.Private { // all objects of the parent came along, see bringObjects
		if err := repo.MarkUnreachedIn(tx, id); err != nil {
			return nil, err
		}
	}
	made, err := repo.ByID(tx, f.from.Caller, id)
	if err == nil && made.Withdrawn {
		err = errs.New(errs.Forbidden,
			"Who is to own the fork must see the root of the network: of an organization, one of its owners.")
	}
	return made, err
}

// lockParent takes the rows of the parent and of the network's root, so that
// forks of one network come one after the other, and finds the parent as it is
// now.
func (f *fork) lockParent(tx *db.Tx) (parent *repo.Access, network repo.ID, err error) {
	if err := repo.Lock(tx, f.from.ID); err != nil {
		return nil, 0, err
	}
	if parent, err = f.parent(tx); err != nil {
		return nil, 0, err
	}
	return parent, parent.NetworkID, repo.Lock(tx, parent.NetworkID)
}

// parent reads the repository that is forked again, and checks that it may be forked:
// before objects are copied, and in the transaction of the fork (decision 61).
func (f *fork) parent(tx *db.Tx) (*repo.Access, error) {
	parent, err := repo.ByID(tx, f.from.Caller, f.from.ID)
	switch {
	case err != nil:
		return nil, err
	case parent.Role < account.Pull:
		return nil, errs.Absent()
	case parent.Private != f.from.Private:
		return nil, errs.New(errs.Conflict, "The repository changed its visibility. Try again.")
	case !parent.AllowForking:
		return nil, errs.New(errs.Forbidden,
			"The organization does not allow its private repositories to be forked.")
	}
	return parent, nil
}

// names are those that the fork may have, the best first.
func (f *fork) names(parent string) []string {
	if f.wish.Name != "" {
		return []string{f.wish.Name}
	}
	list := []string{parent}
	for i := 1; i < 100; i++ {
		suffix := "-" + strconv.Itoa(i)
		list = append(list, parent[:min(len(parent), repo.MaxName-len(suffix))]+suffix)
	}
	return list
}
