// Package gitdata implements reading and writing of Git objects over HTTP. [Service] has the operations on values,
// which pages and GraphQL call, too; [API] has the handlers.
//
//	                                handlers         operations
//	git/trees                       apitree.go       createtree.go and newtree.go write
//	git/blobs                       apiblob.go       write.go
//	git/commits, commits/{ref}      apicommit.go     commit.go reads, createcommit.go writes
//	commits                         apicommit.go     commits.go
//	compare, a pull request's files apicompare.go    compare.go, range.go
//	git/refs, ref, matching-refs    apiref.go        ref.go
//	git/tags                        apiref.go        tag.go
//	branches, tags, contributors    apibranch.go     branch.go, contributors.go
//	branches/{branch}/rename        rename.go        of forge
//	community/profile               community.go
//	contents, raw                   apicontents.go   contents.go
//	                                apiwrite.go      writecontents.go one file, commitfiles.go several
//	readme, license                 apireadme.go     readme.go, html.go
//	tarball, zipball, archive       apiarchive.go    of package git
//	what pages show and REST lacks                   shown.go: last commits, blame, all paths; templates.go
//	many repositories at once                        loadmany.go, commitsof.go, comparemany.go, chosen.go
//
// Names given by clients are resolved to a SHA in SQL before git is called (decision 50): resolve.go.
// payload.go has the JSON that several responses share. Rendered responses are cached (answer.go) by
// everything that they depend on, so they need no invalidation: the content of a full SHA never changes, a
// name depends on the generation of the refs, logins and verified signatures on that of the accounts. A read
// starts at most one git process, a comparison three; files and directories are read by pooled processes.
// Objects are on disk before a ref refers to them (decision 45).
package gitdata

import (
	"context"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/imageproxy"
	"arbor/internal/lfs"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/signature"
	"arbor/internal/web"
)

// Service implements the operations on Git objects, histories and files.
type Service struct {
	LFS    *lfs.Service      // has what pointers stand for; nil: they are files like others. Set before use
	Images *imageproxy.Proxy // shows images of other hosts in rendered files; nil: they are links. Set before use

	db         *db.DB
	repos      *repo.Service
	network    *network.Service
	signatures *signature.Service
	maxEntries int
	kept       *cache.Cache[string, web.Kept] // rendered responses and files as HTML
	lengths    *cache.Cache[string, int]      // of histories
	peeled     *cache.Cache[peelKey, git.SHA]
	walks      *cache.Cache[string, outcome]
}

// DefaultMaxTreeEntries is the number of entries after which a tree is truncated (decision 43).
const DefaultMaxTreeEntries = 100_000

// maxPaths is the total size in bytes of paths after which a tree is truncated: even a small repository can
// have a hundred thousand paths of maximum length.
const maxPaths = 32 << 20

// cacheBytes is the size of the cache of rendered responses.
const cacheBytes = 48 << 20

// maxKept is the maximum size in bytes of a cached tree.
const maxKept = cacheBytes / 4

// maxLengths is the number of cached lengths of histories, of about 500 bytes each.
const maxLengths = 10_000

// New returns a Service. If maxEntries is 0, it uses the default.
func New(d *db.DB, repos *repo.Service, signatures *signature.Service, maxEntries int) *Service {
	if maxEntries <= 0 {
		maxEntries = DefaultMaxTreeEntries
	}
	return &Service{db: d, repos: repos, network: network.New(d, repos), signatures: signatures,
		maxEntries: maxEntries, kept: web.NewKept(cacheBytes),
		lengths: cache.NewCount[string, int](maxLengths), peeled: cache.NewCount[peelKey, git.SHA](maxPeeled),
		walks: newWalks()}
}

// tree resolves the SHA of a tree, commit or annotated tag, or a name as revision does, to a tree
// (decisions 43, 50). Errors: 409 for a repository without refs, 404.
func (s *Service) tree(ctx context.Context, a *repo.Access, name string) (git.SHA, error) {
	if name == "" {
		return "", errs.Absent()
	}
	sha, err := s.find(ctx, a, name, false)
	if err == nil {
		sha, err = s.peel(ctx, a, sha)
	}
	return sha, s.absent(ctx, a, err)
}

// peel returns the tree of a tree, commit or annotated tag.
func (s *Service) peel(ctx context.Context, a *repo.Access, sha git.SHA) (git.SHA, error) {
	return s.peeled.Read(objectsOf(a), peelKey{repo: a.ID, sha: sha, tags: true}, func() (git.SHA, error) {
		objects, release, err := s.repos.Git(ctx, a)
		if err != nil {
			return "", err
		}
		defer release()
		return objects.PeelToTree(ctx, sha)
	})
}

// objectsOf is the cache state of responses that depend only on objects. Objects never change, but a purge
// may remove them.
func objectsOf(a *repo.Access) cache.State { return cache.Generations(a.Purges) }

// peelKey identifies an object and its tree, which never changes.
type peelKey struct {
	repo repo.ID
	sha  git.SHA
	tags bool // follow annotated tags
}

// maxPeeled is the number of cached trees, about 4 MB.
const maxPeeled = 10_000
