// Package gitdata reads and writes Git's own objects over HTTP.
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
// What a client names is resolved to a SHA in SQL before git sees it (decision
// 50): resolve.go. payload.go has the shapes that commits share. Rendered
// answers are kept within a bounded memory (answer.go) under all that they
// depend on, and never invalidated: what a full SHA names for ever, what a name
// leads to under the generation of the refs, and logins under that of the
// accounts. A read starts one git process at most, a comparison three; files
// and directories come from pooled ones. What was written is on disk before a
// ref names it (decision 45).
package gitdata

import (
	"context"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/web"
)

// API answers the requests for Git objects.
type API struct {
	db         *db.DB
	repos      *repo.Service
	network    *network.Service
	maxEntries int
	kept       *cache.Cache[string, web.Kept] // rendered, and the bodies of trees and blobs
	answers    *web.Answers                   // in kept
	lengths    *cache.Cache[string, int]      // of walks of commits
	peeled     *cache.Cache[peelKey, git.SHA]
	lasts      *cache.Cache[string, *history.LastCommits]
	filling    cache.Flights[string]
}

// DefaultMaxTreeEntries is the number of entries of a tree past which an answer
// is truncated (decision 43).
const DefaultMaxTreeEntries = 100_000

// maxPaths is how many bytes the paths of a tree's entries may have together before an answer is truncated: a
// small repository can have a hundred thousand of them that are as long as a path may be.
const maxPaths = 32 << 20

// cacheBytes bounds the rendered answers kept in memory.
const cacheBytes = 48 << 20

// maxKept is the size in bytes of the largest tree that is kept.
const maxKept = cacheBytes / 4

// maxLengths bounds how many lengths of walks are kept, about 500 bytes each.
const maxLengths = 10_000

// NewAPI makes the handlers. maxEntries 0 is the default.
func NewAPI(d *db.DB, repos *repo.Service, maxEntries int) *API {
	if maxEntries <= 0 {
		maxEntries = DefaultMaxTreeEntries
	}
	kept := web.NewKept(cacheBytes)
	return &API{db: d, repos: repos, network: network.New(d, repos), maxEntries: maxEntries, kept: kept,
		answers: web.NewAnswers(kept),
		lengths: cache.NewCount[string, int](maxLengths), peeled: cache.NewCount[peelKey, git.SHA](maxPeeled),
		lasts: newLasts()}
}

// tree finds the SHA of the tree that a client named by the SHA of a tree,
// commit or annotated tag, or as revision says (decisions 43, 50). Errors: 409
// for a repository without any ref, 404.
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

// peel finds the tree of a tree, commit or annotated tag.
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

// objectsOf is the state under which answers are kept that depend on objects alone: these
// never change, but a purge may remove them.
func objectsOf(a *repo.Access) cache.State { return cache.Generations(a.Purges) }

// peelKey names an object that leads to a tree, always to the same.
type peelKey struct {
	repo repo.ID
	sha  git.SHA
	tags bool // annotated tags are followed, too
}

// maxPeeled bounds how many of them are kept, about 4 MB.
const maxPeeled = 10_000

// Caches tells of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.kept.Stats("git_answers"), api.lengths.Stats("git_lengths"),
		api.peeled.Stats("git_peeled"), api.lasts.Stats("git_last_commits")}
}
