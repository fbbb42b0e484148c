package graphql

import (
	"context"
	"strings"

	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// mostMatching limits how many hundreds of branches are compared with a pattern.
const mostMatching = 10

// protectedBranches loads the branches whose names contain part, for the repositories of several protections.
// It returns a function that returns the branches of one repository.
func protectedBranches(
	ctx context.Context, parents []exec.Object, part string,
) func(in *object) ([]*gitdata.RefPayload, error) {
	q, options := queryOf(ctx), gitdata.RefOptions{Prefix: heads, Part: part}
	l := ofRepositories(loader[string, *web.List[*gitdata.RefPayload]]{name: "matching " + part, route: "/git/refs"},
		func(ctx context.Context, list []*repo.Access, at web.Page) (map[repo.ID]*web.List[*gitdata.RefPayload], error) {
			return q.load.Git.ListRefs(ctx, list, options, at)
		})
	repos := make([]*object, len(parents))
	for n, o := range objectsOf(parents) {
		repos[n] = o.repo
	}
	l.loadAll(ctx, q, repos, mostMatching)
	return func(in *object) ([]*gitdata.RefPayload, error) { return l.all(ctx, q, in, mostMatching) }
}

func newBranch(in *object, r *gitdata.RefPayload) *object {
	return &object{kind: "Ref", value: r, whole: true, name: r.Ref, repo: in}
}

// matchingRefs resolves the branches to which protections apply.
func matchingRefs(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	part, _ := f.Args["query"].(string)
	branches := protectedBranches(ctx, parents, part)
	return one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
		list, err := branches(o.repo)
		if err != nil {
			return nil, err
		}
		p := o.value.(protectionOf)
		var all []any
		for _, r := range list {
			if p.rules.Protection(strings.TrimPrefix(r.Ref, heads)) == p.set {
				all = append(all, newBranch(o.repo, r))
			}
		}
		return connectAll(f, "RefConnection", all)
	})(ctx, f, parents)
}

// mostConflicts limits how many conflicts of a protection are listed.
const mostConflicts = 1000

// protectionConflicts resolves the branches that match both a protection and another one of the repository.
// Only one of the two applies to the branch.
func protectionConflicts(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	branches := protectedBranches(ctx, parents, "")
	return one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
		list, err := branches(o.repo)
		if err != nil {
			return nil, err
		}
		p := o.value.(protectionOf)
		others := map[*rule.Ruleset]*object{}
		var all []any
		for _, r := range list {
			for _, set := range p.rules.Conflicting(p.set, strings.TrimPrefix(r.Ref, heads)) {
				if others[set] == nil {
					others[set] = newProtection(o.repo, set, p.rules)
				}
				all = append(all, bare{"BranchProtectionRuleConflict", map[string]any{"branchProtectionRule": o,
					"conflictingBranchProtectionRule": others[set], "ref": newBranch(o.repo, r)}})
			}
			if len(all) >= mostConflicts {
				break
			}
		}
		return connectAll(f, "BranchProtectionRuleConflictConnection", all)
	})(ctx, f, parents)
}
