package purge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// world is what the database says of a repository at one moment.
type world struct {
	refs       git.Refs
	purges     int64
	generation int64
	pulls      []pullTips
	noted      string // names the notes of unreached objects
}

// pullTips is what the row of a pull request names.
type pullTips struct {
	number                 int64
	head, base, merge      git.SHA
	testedBase, testedHead git.SHA
	baseTip                git.SHA // empty: the branch is gone
}

// testMerge is where refs/pull/N/merge leads.
type testMerge struct {
	number int64
	sha    git.SHA
}

// root is an object that is named, by what.
type root struct {
	sha  git.SHA
	what string
	ref  bool
}

// roots lists the objects that must stay, with everything reachable from them: those named by refs, and the
// head, base and merge of pull requests. stale are outdated test merges: they are
// recreated on demand.
func (w *world) roots() (list []root, stale []testMerge) {
	old := map[string]int64{}
	for _, p := range w.pulls {
		if p.testedBase != p.baseTip || p.testedHead != p.head {
			old[fmt.Sprintf("%s%d/%s", repo.PullRefs, p.number, repo.PullMerge)] = p.number
		}
	}
	for _, ref := range w.refs.List {
		if number, ok := old[ref.Name]; ok {
			stale = append(stale, testMerge{number, ref.SHA})
		} else {
			list = append(list, root{ref.SHA, refWords(ref.Name), true})
		}
	}
	for _, p := range w.pulls {
		because := fmt.Sprintf("pull request #%d, which was opened or updated when this was its base",
			p.number)
		list = append(list, root{p.base, because, false})
		if p.merge != "" {
			list = append(list, root{p.merge, fmt.Sprintf("pull request #%d, which was merged by it",
				p.number), false})
		}
	}
	return list, stale
}

// refWords says which ref it is.
func refWords(name string) string {
	if branch, ok := strings.CutPrefix(name, git.Heads); ok {
		return "branch " + branch
	}
	if tag, ok := strings.CutPrefix(name, git.Tags); ok {
		return "tag " + tag
	}
	if rest, ok := strings.CutPrefix(name, repo.PullRefs); ok {
		number, kind, _ := strings.Cut(rest, "/")
		what := map[string]string{repo.PullHead: "head", repo.PullMerge: "test merge"}[kind]
		return fmt.Sprintf("%s of pull request #%s", what, number)
	}
	return name
}

// repoPlan is what goes from one repository, as the world was.
type repoPlan struct {
	repo      *repo.Repo
	world     *world
	tips      []git.SHA   // of all roots
	stale     []testMerge // that go
	object    git.Object  // that was named, and is there
	gone      []git.ID
	stay      []git.ID // that no root leads to
	folder    int64    // Repo.Purges to be
	reasons   []string // why the object may not go
	leftovers []string // folders that an earlier purge or a deletion left
	hasLeft   bool     // packs in a depot that nobody has any longer, and that may hold the object
}

// planOf finds out what is removed from a repository.
func (p *purge) planOf(ctx context.Context, r *repo.Repo) (*repoPlan, error) {
	plan := &repoPlan{repo: r}
	var err error
	if plan.world, err = p.s.purgeWorld(ctx, r.ID); err != nil {
		return nil, err
	}
	if plan.leftovers, err = p.s.leftovers(ctx, r.ID, math.MaxInt64); err != nil {
		return nil, err
	}
	if p.s.repos.Packs != nil {
		if plan.hasLeft, err = p.s.repos.Packs.HasLeft(ctx, r.ID); err != nil {
			return nil, err
		}
	}
	objects, release, err := p.s.repos.Open(ctx, r.ID, plan.world.purges)
	if err != nil {
		return nil, err
	}
	defer release()
	if !objects.Exists() {
		return plan, nil
	}
	if p.Object != "" {
		plan.object, err = objects.FindObject(ctx, p.Object)
		if errs.Is(err, errs.NotFound) {
			plan.object = git.Object{}
			return plan, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return plan, p.divide(ctx, plan, objects)
}

// divide finds out which objects go and which stay.
func (p *purge) divide(ctx context.Context, plan *repoPlan, objects *git.Repository) error {
	roots, stale := plan.world.roots()
	known, err := objects.Known(ctx, shasOfRoots(roots))
	if err != nil {
		return err
	}
	plan.tips = nil
	for i, o := range known {
		if o.Type != "" {
			plan.tips = append(plan.tips, roots[i].sha)
		} else if roots[i].ref {
			return fmt.Errorf("%s leads to %s, which is not there: see arbor check", roots[i].what,
				roots[i].sha)
		}
	}
	slices.Sort(plan.tips)
	plan.tips = slices.Compact(plan.tips)
	unreached, err := objects.Unreached(ctx, plan.tips)
	if err != nil {
		return err
	}
	defer func() {
		plan.stale = slices.DeleteFunc(stale, func(t testMerge) bool {
			_, goes := slices.BinarySearchFunc(plan.gone, t.sha.ID(), git.CompareIDs)
			return !goes
		})
	}()
	plan.gone, plan.stay = unreached, nil
	if plan.object.Type == "" {
		return nil
	}
	if _, free := slices.BinarySearchFunc(unreached, plan.object.SHA.ID(), git.CompareIDs); !free {
		plan.gone = nil
		return plan.refuse(ctx, objects, roots)
	}
	plan.gone, plan.stay, err = objects.Doomed(ctx, unreached, plan.object.SHA)
	return err
}

func shasOfRoots(roots []root) []git.SHA {
	shas := make([]git.SHA, len(roots))
	for i, r := range roots {
		shas[i] = r.sha
	}
	return shas
}

// maxReasons is how many refs and pull requests of a repository are named.
const maxReasons = 20

// refuse names what leads to the object.
func (plan *repoPlan) refuse(ctx context.Context, objects *git.Repository, roots []root) error {
	lead, err := objects.LeadTo(ctx, plan.tips, plan.object.SHA, maxReasons+1)
	if err != nil {
		return err
	}
	more := len(lead) > maxReasons
	for _, r := range roots {
		if !slices.Contains(lead, r.sha) {
			continue
		}
		if len(plan.reasons) == maxReasons {
			more = true
			break
		}
		plan.reasons = append(plan.reasons, fmt.Sprintf("%s: %s leads to %s %s",
			plan.repo.FullName(), r.what, plan.object.Type, plan.object.SHA))
	}
	if more {
		plan.reasons = append(plan.reasons, plan.repo.FullName()+": and others")
	}
	return nil
}

// purgeWorld reads the world as it is.
func (s *Service) purgeWorld(ctx context.Context, id repo.ID) (w *world, err error) {
	err = s.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
		w, err = readWorld(tx, id)
		return err
	})
	return w, err
}
