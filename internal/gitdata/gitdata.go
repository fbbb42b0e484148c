// Package gitdata implements reading and writing of Git objects over HTTP.
//
//	git/trees                       tree.go reads, createtree.go and newtree.go write
//	git/blobs, git/tags             blob.go, tag.go
//	git/commits                     commit.go reads, createcommit.go writes
//	git/refs, ref, matching-refs    ref.go
//	branches, tags                  branch.go
//	commits, commits/{ref}          commits.go lists, commit.go reads one
//	compare                         compare.go
//	contents, readme                contents.go, readme.go read; writecontents.go writes
//	tarball, zipball, archive       archive.go
//	contributors                    contributors.go
//	/{owner}/{repo}/raw, compare    page.go: where payloads' addresses lead
//	what pages show and REST lacks  shown.go: last commits, blame, all paths
//
// Names given by clients are resolved to a SHA in SQL before git is called (decision 50): resolve.go.
// payload.go has the JSON that several responses share. Rendered responses are cached (answer.go) by
// everything that they depend on, so they need no invalidation: the content of a full SHA never changes, a
// name depends on the generation of the refs, logins and verified signatures on that of the accounts. A read starts at most one
// git process, a comparison three; files and directories are read by pooled processes. Objects are on disk
// before a ref refers to them (decision 45).
package gitdata

import (
	"context"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/signature"
	"arbor/internal/web"
)

// API implements the HTTP handlers of Git objects.
type API struct {
	db         *db.DB
	repos      *repo.Service
	network    *network.Service
	signatures *signature.Service
	maxEntries int
	kept       *cache.Cache[string, web.Kept] // rendered responses, trees and blobs
	answers    *web.Answers                   // in kept
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

// NewAPI returns an API. If maxEntries is 0, it uses the default.
func NewAPI(d *db.DB, repos *repo.Service, signatures *signature.Service, maxEntries int) *API {
	if maxEntries <= 0 {
		maxEntries = DefaultMaxTreeEntries
	}
	kept := web.NewKept(cacheBytes)
	return &API{db: d, repos: repos, network: network.New(d, repos), signatures: signatures,
		maxEntries: maxEntries, kept: kept, answers: web.NewAnswers(kept),
		lengths: cache.NewCount[string, int](maxLengths), peeled: cache.NewCount[peelKey, git.SHA](maxPeeled),
		walks: newWalks()}
}

// tree resolves the SHA of a tree, commit or annotated tag, or a name as revision does, to a tree
// (decisions 43, 50). Errors: 409 for a repository without refs, 404.
func (api *API) tree(ctx context.Context, a *repo.Access, name string) (git.SHA, error) {
	if name == "" {
		return "", errs.Absent()
	}
	sha, err := api.find(ctx, a, name, false)
	if err == nil {
		sha, err = api.peel(ctx, a, sha)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return "", api.orEmpty(ctx, a, errs.Absent())
	}
	return sha, err
}

// peel returns the tree of a tree, commit or annotated tag.
func (api *API) peel(ctx context.Context, a *repo.Access, sha git.SHA) (git.SHA, error) {
	return api.peeled.Read(objectsOf(a), peelKey{repo: a.ID, sha: sha, tags: true}, func() (git.SHA, error) {
		objects, release, err := api.repos.Git(ctx, a)
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

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.kept.Stats("git_answers"), api.lengths.Stats("git_lengths"),
		api.peeled.Stats("git_peeled"), api.walks.Stats("git_walks")}
}
