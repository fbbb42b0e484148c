// Package repo holds repositories: rights on them, their refs, and access to
// their objects. Each of its sub-packages has one subject:
//
//	list           shows repositories, one and many
//	settings       creates, changes, transfers and deletes them; topics, deploy keys
//	collaborator   the people with access to them
//	network        forks, and objects that go between them
//	transport      git over HTTP and on connections
//	maintenance    packs and folders, in the background
//	purge          removes objects permanently
//
// What all rooms and the features above need is here:
//
//	[Service.With], [Access]: the repository, the caller's role   access.go, found.go, find.go
//	roles that are granted                                       grant.go, people.go
//	SQL: the row of a repository, and its visibility             store.go, visible.go, scope.go
//	a new repository                                             repo.go, autoinit.go
//	[Service.Git]: objects, and the folders that hold them       folder.go, objects.go
//	folders that are missing or unreadable                       broken.go
//	[Service.MoveRefs]: refs, and all that reads them            refs.go, landing.go, refnow.go, refstore.go
//	which objects are shown: those that refs reach               reach.go, reachset.go
//	and for a time unreached ones                                unreached.go
//	how much an owner may have                                   quota.go, files.go
//	how it is shown                                              payload.go, merging.go
//
// Tables: repos, repo_redirects, collaborators, refs, reserved_repos, unreached_objects,
// backups. The refs in SQL are the
// truth; a repository's directory holds objects, and all else there
// is a copy that nothing trusts. MoveRefs alone moves refs, in the transaction
// of all that follows. What other features have a part in is a method of [Forge]:
// package forge names its steps. A repository without refs needs no directory: the first push
// makes it. One with refs whose directory is missing or unreadable is a failure of the server.
//
// A handler of this package, and of every feature on top of it, receives an
// [Access]: the repository was found, the caller may see it and has the right
// that the route table names. With it [Service.Git] gives the objects.
package repo

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/keyed"
	"arbor/internal/scope"
	"arbor/internal/space"
)

// ID is the id of a repository.
type ID int64

// String returns the id in the form of folder names.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Repo is a row of the table repos with the owner that its address names.
type Repo struct {
	ID             ID
	OwnerID        account.ID
	Name           string
	Description    *string
	Homepage       *string
	Private        bool
	DefaultBranch  string // a branch's name without refs/heads/; it need not exist yet
	HasIssues      bool
	Archived       bool // read-only for everybody
	IsTemplate     bool // others are made of it
	TemplateID     ID   // that it was made of; 0: of none, or it is gone
	Merging        Merging
	RefsGeneration int64 // grows with every change of a ref
	Purges         int64 // grows when objects are purged: its folder is named by it, see folder.go
	Unreached      bool  // its folder may hold objects that no ref leads to (decision 60)
	OpenIssues     int64 // open issues and pull requests
	Stars          int64
	Watchers       int64 // users notified of everything in it
	// IssuesGeneration grows with every change of what payloads of issues show.
	IssuesGeneration int64
	SizeKB           int64 // of the packs received, in KiB
	ParentID         ID    // what it was forked from; 0: it is not a fork
	NetworkID        ID    // the root of its network: itself unless it is a fork
	Withdrawn        bool  // a private fork whose owner does not see the root (decision 62)
	AllowForking     bool  // of a private one: its organization and the root's allow it
	Forks            int64 // of it that the caller may see
	NetworkForks     int64 // of its whole network that the caller may see
	CreatedAt        db.Time
	UpdatedAt        db.Time
	PushedAt         db.Time

	Topics   Topics
	Language *string // of most of its code, see package detect; nil: none, or not known yet
	License  *string // the key of package license; nil as above

	Owner account.Account // ID, Login, Kind, SiteAdmin and DefaultRole only
}

// deletedMark begins the names of repositories that are being deleted, and no name that people give.
const deletedMark = "~"

// DeletedName is the name of a repository that is deleted and whose rows still go, see package deletion: nobody
// has any role in it. The operator's commands list it.
func DeletedName(id ID) string { return fmt.Sprint(deletedMark, "deleted-", id) }

// Deleted reports that the repository is being deleted.
func (r *Repo) Deleted() bool { return strings.HasPrefix(r.Name, deletedMark) }

// FullName is OWNER/NAME as written.
func (r *Repo) FullName() string { return r.Owner.Login + "/" + r.Name }

// Access is a repository as one caller may use it.
type Access struct {
	*Repo
	Role   account.Role    // at least Pull
	Caller *account.Caller // nil: anonymous
	Member bool            // of the organization that owns the repository
	// Granted says that the caller has a role in the repository whether it is
	// public or not.
	Granted bool

	AccountsGeneration int64 // of account.Topic: grows with every change of an account

	// AsOf is the state of the whole database before the access was read: an answer
	// that shows more of it than generations cover is kept under that. Of an access
	// that Find did not give it is [cache.Unknown].
	AsOf cache.State
}

// Insider reports whether the caller may see hidden memberships of the organization.
func (a *Access) Insider() bool { return a.Member || a.Caller.SeesAll() && !a.Caller.HidesMembers }

// Service holds what the operations on repositories share.
type Service struct {
	// These are set before the service is used.
	Quota    account.Quota // of owners who have none of their own
	Room     *space.Guard  // nothing is packed while it refuses
	RetryFor time.Duration // see Again; 0: 20 seconds

	db    *db.DB
	git   *git.Git
	log   *slog.Logger
	dir   string // of all repositories' directories
	forge Forge

	refs  *cache.Cache[refsKey, git.Refs]
	reach reachCache
	found *cache.Cache[foundKey, Found]
	// of repositories that work without a caller opens, and of those without a folder
	standings *cache.Cache[ID, standing]
	broken    broken
	moves     broadcast
	packing   *keyed.Queue[ID] // repositories that were written to
	ending    sync.WaitGroup   // folders being removed
}

// New returns the service. The repositories' directories are below dir.
func New(d *db.DB, g *git.Git, log *slog.Logger, dir string, forge Forge) *Service {
	return &Service{
		db: d, git: g, log: log, dir: dir, forge: forge,
		refs: cache.New(maxCachedRefs, refCost), found: cache.NewCount[foundKey, Found](maxFound),
		standings: cache.NewCount[ID, standing](maxFound), broken: broken{folders: map[Folder]error{}},
		packing: keyed.NewQueue[ID](),
	}
}

// Dir is the folder of all repositories' folders.
func (s *Service) Dir() string { return s.dir }

// Written is the queue of the repositories that objects were written to.
func (s *Service) Written() *keyed.Queue[ID] { return s.packing }

// MaxName is the length of the longest repository name (decision 8).
const MaxName = 100

// CheckName reports why a repository cannot have the name, as an errs.Field
// message; empty when it can (decision 8).
func CheckName(name string) string {
	switch {
	case name == "":
		return "name can't be blank"
	case len(name) > MaxName:
		return "name is too long (maximum is 100 characters)"
	case name == "." || name == "..":
		return "name is reserved"
	}
	for i := range len(name) {
		c := name[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
			c == '.' || c == '_'
		if !ok {
			return "name may only have letters, digits, '-', '.' and '_'"
		}
	}
	folded := account.Fold(name)
	if strings.HasSuffix(folded, ".git") || strings.HasSuffix(folded, ".lock") {
		return "name must not end in .git or .lock"
	}
	return ""
}

// New repository: what a caller or operator wants.
type NewRepo struct {
	Owner       string // login
	Name        string
	Description *string
	Homepage    *string
	Private     bool
	NoIssues    bool
	AutoInit    bool   // begin with a commit of a README
	Gitignore   string // name of a template that the first commit has; empty: none
	License     string // key of a license that the first commit has; empty: none
	Merging     Merging
	IsTemplate  bool

	template *Access     // that it is made of; nil: none
	branch   string      // the default one; empty: DefaultBranch
	branches []RefUpdate // of the template, which the new repository has, too
}

// DefaultBranch is the default branch of a new repository.
const DefaultBranch = "main"

// Create creates a repository, empty unless AutoInit or a template is set. by is the caller, nil for the
// operator at the command line. Errors: 404 for an owner that is not there, 403 when by
// may not create there, 422 for a name that is not acceptable or taken, and a template that is not there.
func (s *Service) Create(ctx context.Context, by *account.Caller, n NewRepo) (*Repo, error) {
	if message := CheckName(n.Name); message != "" {
		return nil, nameError(message)
	}
	if n.AutoInit || n.Gitignore != "" || n.License != "" {
		return s.createWithCommit(ctx, by, n)
	}
	return s.insert(ctx, by, n, beginning{})
}

// beginning is what there is of a repository before its row.
type beginning struct {
	id   ID          // of its folder; 0: there is none yet
	refs []RefUpdate // its first ones
	kb   int64       // KiB that its objects take
}

// insert adds the row of a repository, and its first refs.
func (s *Service) insert(ctx context.Context, by *account.Caller, n NewRepo, first beginning) (*Repo, error) {
	var made *Repo
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		owner, err := account.ByLogin(tx, n.Owner)
		if err != nil {
			return err
		}
		if err := n.holds(tx); err != nil {
			return err
		}
		if err := s.CheckQuota(tx, owner, Growth{Repos: 1, KB: first.kb, Hold: true}); err != nil {
			if _, forbidden := MayCreate(tx, by, owner); forbidden != nil { // whose quota it is not to know
				return forbidden
			}
			return err
		}
		mayFork := !n.Private || owner.Kind == account.User || owner.PrivateForks
		r := &Repo{
			ID: first.id, OwnerID: owner.ID, Name: n.Name, Description: n.Description, Homepage: n.Homepage,
			AllowForking: mayFork,
			Private:      n.Private, DefaultBranch: cmp.Or(n.branch, DefaultBranch), HasIssues: !n.NoIssues, Merging: n.Merging,
			IsTemplate: n.IsTemplate, TemplateID: n.templateID(),
			CreatedAt: tx.Now, UpdatedAt: tx.Now, PushedAt: tx.Now, Owner: *owner,
		}
		if err := s.forge.Create(tx, r, by); err != nil {
			return err
		}
		made = r
		if first.refs != nil {
			push := Push{RepoID: r.ID, Updates: first.refs, Atomic: true, GrownKB: first.kb}
			if _, err := s.forge.Push(tx, push); err != nil {
				return err
			}
			r.SizeKB, r.RefsGeneration = first.kb, 1
		}
		return nil
	})
	return made, err
}

// CreateIn is Create without objects within a transaction, for a fork. Errors: as of Insert.
func (s *Service) CreateIn(tx *db.Tx, r *Repo, by *account.Caller) error {
	return s.forge.Create(tx, r, by)
}

// Insert adds the row of a repository, and the role on it of a member who makes it
// for an organization. Errors: 403 when by may not create there; as of insertRepo.
func Insert(tx *db.Tx, r *Repo, by *account.Caller) error {
	if by != nil && by.Most(int64(r.ID), r.OwnerID, r.Private) < account.Admin { // nobody chose a new one
		return by.Insufficient(scope.Repo)
	}
	admit, err := MayCreate(tx, by, &r.Owner)
	if err != nil {
		return err
	}
	if err := insertRepo(tx, r); err != nil || !admit {
		return err
	}
	return putCollaborator(tx, r.ID, by.ID, account.Admin)
}

// DoneBy is the account that did something to the repository: the caller, or for
// the operator at the command line the owner, unless that is an organization.
func (r *Repo) DoneBy(by *account.Caller) account.ID {
	switch {
	case by != nil:
		return by.ID
	case r.Owner.Kind == account.User:
		return r.OwnerID
	default:
		return 0
	}
}

// MayCreate checks the right to create a repository for owner. admit reports a
// member of an organization who needs a role on what it creates.
func MayCreate(tx *db.Tx, by *account.Caller, owner *account.Account) (admit bool, err error) {
	if by == nil || by.SeesAll() || by.ID == owner.ID {
		return false, nil
	}
	if owner.Kind != account.Organization {
		return false, errs.New(errs.Forbidden, "You cannot create a repository for another user.")
	}
	member, orgOwner, err := account.OrgRole(tx, owner.ID, by.ID)
	if err != nil {
		return false, err
	}
	if !member {
		return false, errs.New(errs.Forbidden,
			"You must be a member of the organization to add a repository to it.")
	}
	return !orgOwner, nil
}

func nameError(message string) error {
	return errs.Validation(errs.Field{Resource: "Repository", Field: "name", Code: errs.Custom,
		Message: message})
}

// ErrNameTaken is the 422 for a name that another repository of the owner has.
func ErrNameTaken() error { return nameError("name already exists on this account") }

// CountForOwner adds a repository to its owner's counters, or with -1 takes it off.
func CountForOwner(tx *db.Tx, r *Repo, by int64) error {
	if r.Private {
		return account.CountRepos(tx, r.OwnerID, 0, by)
	}
	return account.CountRepos(tx, r.OwnerID, by, 0)
}

// Caches returns the numbers of the caches.
func (s *Service) Caches() []cache.Stats {
	return []cache.Stats{s.refs.Stats("refs"), s.found.Stats("repositories")}
}

// Wrote notes that objects were written to a repository outside this package, so
// that its packs are consolidated in time.
func (s *Service) Wrote(repoID ID) { s.packing.Add(repoID) }
