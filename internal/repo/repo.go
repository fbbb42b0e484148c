// Package repo implements repositories: the rights on them, their refs, and access to their objects. Its
// sub-packages:
//
//	list           lists repositories, and returns single ones
//	settings       creates, changes, transfers and deletes them; topics, deploy keys
//	collaborator   the people with access to them
//	network        forks, and copying objects between them
//	transport      git over HTTP and on connections
//	maintenance    packing and removing directories, in the background
//	purge          removes objects permanently
//
// This package has what its sub-packages and the features above it share:
//
//	[Service.With], [Access]: the repository, the caller's role   access.go, found.go, find.go
//	[Answers]: rendered answers, kept while they are true        answers.go
//	granted roles                                                grant.go, people.go
//	the SQL of repositories, and their visibility                store.go, visible.go, scope.go
//	a new repository                                             repo.go, autoinit.go, gitignore.go
//	[Service.Git]: objects, and their directories                folder.go, objects.go
//	missing or unreadable directories                            broken.go
//	[Service.MoveRefs]: refs, and reading them                   refs.go, landing.go, refnow.go, refstore.go
//	visible objects: those reachable from refs                   reach.go, reachset.go
//	and recently unreachable ones                                unreached.go
//	quotas                                                       quota.go, files.go
//	their JSON                                                   payload.go, merging.go
//
// Tables: repos, repo_redirects, collaborators, refs, reserved_repos, unreached_objects, backups. The refs
// in SQL are authoritative; a repository's directory has its objects, and anything else there is a copy
// that is not relied on. Only MoveRefs moves refs, in one transaction with all effects. Changes that affect
// other features are methods of [Forge], which package forge implements. A repository without refs may lack
// a directory, because the first push creates it. A missing or unreadable directory of a repository with
// refs is a server error.
//
// Handlers of this package, and of the features above it, get an [Access]: the repository was found, is
// visible to the caller, and the caller has the right of the route. [Service.Git] opens its objects.
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

// Repo is a row of table repos with its owner.
type Repo struct {
	ID             ID
	OwnerID        account.ID
	Name           string
	Description    *string
	Homepage       *string
	Private        bool
	DefaultBranch  string // a branch's name without refs/heads/; it need not exist yet
	HasIssues      bool
	Archived       bool // read-only for everyone
	Ruled          bool // it or its owner has rulesets, see package rule
	IsTemplate     bool // others can be created from it
	TemplateID     ID   // its template; 0: none, or it was deleted
	Merging        Merging
	RefsGeneration int64 // incremented with every change of a ref
	Purges         int64 // increases when objects are purged; part of its directory's name, see folder.go
	Packs          int64 // incremented with every change of its packs in a depot; 0: they are in its directory
	Unreached      bool  // its directory may have unreachable objects (decision 60)
	OpenIssues     int64 // open issues and pull requests
	Stars          int64
	Watchers       int64 // users notified of everything in it
	// IssuesGeneration is incremented with every change of the issues' JSON.
	IssuesGeneration int64
	SizeKB           int64 // of the packs received, in KiB
	ParentID         ID    // its parent; 0: not a fork
	NetworkID        ID    // the root of its network: itself unless it is a fork
	Withdrawn        bool  // a private fork whose owner cannot see the root (decision 62)
	AllowForking     bool  // of a private one: its organization and that of the root allow it
	Forks            int64 // visible to the caller
	NetworkForks     int64 // in the whole network, visible to the caller
	CreatedAt        db.Time
	UpdatedAt        db.Time
	PushedAt         db.Time

	Topics   Topics
	Language *string // the most used one, see package detect; nil: none, or unknown
	License  *string // the key of package license; nil as above

	Autolinks bool   // it has some, see package autolink
	Importing bool   // its issues and refs come from another server, so it is read-only meanwhile; see migration/job
	MirrorURL string // of the repository that it mirrors, so that its refs are read-only here; empty: none, see package mirror

	Owner account.Account // ID, Login, Kind, SiteAdmin and DefaultRole only
}

// deletedMark is the prefix of the names of repositories being deleted. Users cannot choose it.
const deletedMark = "~"

// DeletedName returns the name of a repository whose rows are being deleted, see package deletion: nobody
// has a role in it. The operator's commands list it.
func DeletedName(id ID) string { return fmt.Sprint(deletedMark, "deleted-", id) }

// Deleted reports whether the repository is being deleted.
func (r *Repo) Deleted() bool { return strings.HasPrefix(r.Name, deletedMark) }

// FullName returns OWNER/NAME as written.
func (r *Repo) FullName() string { return r.Owner.Login + "/" + r.Name }

// Access is a repository with the role of a caller.
type Access struct {
	*Repo
	Role   account.Role    // at least Pull
	Caller *account.Caller // nil: anonymous
	Member bool            // of the organization that owns the repository
	// Granted reports whether the caller has a role other than the public one.
	Granted bool

	onArchived bool               // what the caller asked for is also allowed on an archived repository
	reached    *account.Permitted // see Roles.Reached

	AccountsGeneration int64 // of account.Topic: incremented with every change of an account

	// AsOf is the state of the whole database before the access was read. Responses that depend on more
	// than the generations are cached under it. It is [cache.Unknown] unless Find returned the access.
	AsOf cache.State
}

// Insider reports whether the caller may see hidden memberships of the organization.
func (a *Access) Insider() bool {
	return a.Member || a.Caller.SeesAll() && !a.Caller.HidesMembers && !a.closed()
}

// closed reports that the owner is closed to the caller's OAuth App.
func (a *Access) closed() bool { return a.reached != nil && a.reached.Closed() }

// Service implements the operations on repositories.
type Service struct {
	// Set before the service is used:
	Quota    account.Quota // of owners without a quota of their own
	Room     *space.Guard  // nothing is packed while it rejects
	Packs    Packs         // nil: all directories keep their packs
	RetryFor time.Duration // see Again; 0: 20 seconds

	db    *db.DB
	git   *git.Git
	log   *slog.Logger
	dir   string // parent of all repositories' directories
	forge Forge

	refs  *cache.Cache[refsKey, git.Refs]
	reach reachCache
	found *cache.Cache[foundKey, Found]
	// of repositories opened without a caller, and of those without a directory
	standings *cache.Cache[ID, standing]
	broken    broken
	packing   *keyed.Queue[ID]    // repositories with new objects
	changing  keyed.Mutex[string] // branches
	ending    sync.WaitGroup      // directories being removed
}

// New returns a Service. The repositories' directories are below dir.
func New(d *db.DB, g *git.Git, log *slog.Logger, dir string, forge Forge) *Service {
	return &Service{
		db: d, git: g, log: log, dir: dir, forge: forge,
		refs: cache.New(maxCachedRefs, refCost), found: cache.NewCount[foundKey, Found](maxFound),
		standings: cache.NewCount[ID, standing](maxFound), broken: broken{folders: map[Folder]error{}},
		packing: keyed.NewQueue[ID](),
	}
}

// Dir returns the parent of all repositories' directories.
func (s *Service) Dir() string { return s.dir }

// Written returns the queue of repositories with new objects.
func (s *Service) Written() *keyed.Queue[ID] { return s.packing }

// MaxName is the length of the longest repository name (decision 8).
const MaxName = 100

// CheckName returns the reason why a name is invalid, as an errs.Field message, or "" (decision 8).
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

// NewRepo is a repository to be created.
type NewRepo struct {
	Owner       string // login
	Name        string
	Description *string
	Homepage    *string
	Private     bool
	NoIssues    bool
	AutoInit    bool   // create a first commit with a README
	Gitignore   string // name of a template for the first commit; empty: none
	License     string // key of a license for the first commit; empty: none
	Merging     Merging
	IsTemplate  bool

	template *Access     // to be created from; nil: none
	branch   string      // the default branch; empty: DefaultBranch
	branches []RefUpdate // of the template, to be created too
}

// right returns the right by which a caller creates the repository: to the template, if there is one.
func (n *NewRepo) right(by *account.Caller) db.Right {
	if n.template != nil {
		return n.template
	}
	return by
}

// DefaultBranch is the default branch of a new repository.
const DefaultBranch = "main"

// Create creates a repository, empty unless AutoInit or a template is set. by is the caller, nil for the
// operator at the command line. Errors: 404 for an unknown owner, 403 if by may not create one there, 422
// for an invalid or existing name, and an unknown template.
func (s *Service) Create(ctx context.Context, by *account.Caller, n NewRepo) (*Repo, error) {
	if message := CheckName(n.Name); message != "" {
		return nil, nameError(message)
	}
	if n.AutoInit || n.Gitignore != "" || n.License != "" {
		return s.createWithCommit(ctx, by, n)
	}
	kept, err := s.keepsNew(ctx)
	if err != nil {
		return nil, err
	}
	return s.insert(ctx, by, n, beginning{kept: kept})
}

// beginning is what exists of a repository before its row.
type beginning struct {
	id   ID          // of its directory; 0: none yet
	refs []RefUpdate // its first refs
	kb   int64       // size of its objects
	kept int64       // Repo.Packs
}

// insert inserts the repository and its first refs.
func (s *Service) insert(ctx context.Context, by *account.Caller, n NewRepo, first beginning) (*Repo, error) {
	var made *Repo
	err := s.db.WriteAs(ctx, n.right(by), func(tx *db.Tx) error {
		owner, err := account.ByLogin(tx, n.Owner)
		if err != nil {
			return err
		}
		if err := n.holds(tx); err != nil {
			return err
		}
		if err := s.CheckQuota(tx, owner, Growth{Repos: 1, KB: first.kb, Hold: true}); err != nil {
			if _, forbidden := MayCreate(tx, by, owner, n.Private); forbidden != nil { // must not learn whose quota it is
				return forbidden
			}
			return err
		}
		mayFork := !n.Private || owner.Kind == account.User || owner.PrivateForks
		r := &Repo{
			ID: first.id, OwnerID: owner.ID, Name: n.Name, Description: n.Description, Homepage: n.Homepage,
			AllowForking: mayFork,
			Private:      n.Private, DefaultBranch: cmp.Or(n.branch, DefaultBranch), HasIssues: !n.NoIssues, Merging: n.Merging,
			IsTemplate: n.IsTemplate, TemplateID: n.templateID(), Packs: first.kept,
			CreatedAt: tx.Now, UpdatedAt: tx.Now, PushedAt: tx.Now, Owner: *owner,
		}
		if err := s.forge.Create(tx, r, by); err != nil {
			return err
		}
		made = r
		if first.refs != nil {
			push := Push{RepoID: r.ID, Updates: first.refs, Atomic: true, GrownKB: first.kb, First: true}
			if _, err := s.forge.Push(tx, push); err != nil {
				return err
			}
			r.SizeKB, r.RefsGeneration = first.kb, 1
		}
		return nil
	})
	return made, err
}

// CreateIn is Create without objects within a transaction, for a fork. Errors: as for Insert.
func (s *Service) CreateIn(tx *db.Tx, r *Repo, by *account.Caller) error {
	return s.forge.Create(tx, r, by)
}

// Insert inserts the repository, and the role of an organization's member who creates it. Errors: 403 if by
// may not create one there; as for insertRepo.
func Insert(tx *db.Tx, r *Repo, by *account.Caller) error {
	// A token for chosen repositories cannot include a new one.
	if by != nil && by.Most(int64(r.ID), r.OwnerID, r.Private) < account.Admin {
		return by.Insufficient(scope.Repo)
	}
	admit, err := MayCreate(tx, by, &r.Owner, r.Private)
	if err != nil {
		return err
	}
	if err := insertRepo(tx, r); err != nil || !admit {
		return err
	}
	return putCollaborator(tx, r.ID, by.ID, account.Admin)
}

// DoneBy returns the account that acted on the repository: the caller, or for the operator at the command
// line the owner unless that is an organization.
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

// MayCreate checks the right to create a public or private repository for owner. admit reports whether the caller,
// as a member of the organization, needs a role on the new repository.
func MayCreate(
	tx *db.Tx, by *account.Caller, owner *account.Account, private bool,
) (admit bool, err error) {
	if owner.Kind == account.Bot || owner.Kind == account.Mannequin {
		return false, errs.Newf(errs.Invalid, "%q cannot own repositories", owner.Login)
	}
	if err := by.MustBeOpen(tx, owner); err != nil {
		return false, err
	}
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
	if !orgOwner && !owner.Creation.Allows(private) {
		return false, errs.Newf(errs.Forbidden,
			"Members of this organization cannot create %s repositories. Ask one of its owners.", Visibility(private))
	}
	return !orgOwner, nil
}

func nameError(message string) error {
	return errs.Validation(errs.Field{Resource: "Repository", Field: "name", Code: errs.Custom,
		Message: message})
}

// ErrNameTaken returns the 422 for a name that the owner already uses.
func ErrNameTaken() error { return nameError("name already exists on this account") }

// CountForOwner adds a repository to its owner's counters, or subtracts it if by is -1.
func CountForOwner(tx *db.Tx, r *Repo, by int64) error {
	if r.Private {
		return account.CountRepos(tx, r.OwnerID, 0, by)
	}
	return account.CountRepos(tx, r.OwnerID, by, 0)
}

// Caches returns statistics of the caches.
func (s *Service) Caches() []cache.Stats {
	return []cache.Stats{s.refs.Stats("refs"), s.found.Stats("repositories")}
}

// Wrote records that objects were written to a repository outside this package, so that its packs get
// consolidated.
func (s *Service) Wrote(repoID ID) { s.packing.Add(repoID) }
