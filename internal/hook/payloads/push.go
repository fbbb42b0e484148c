package payloads

import (
	"slices"
	"strings"

	"arbor/internal/deployment"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/status"
	"arbor/internal/web"
)

// ref renders the creation or deletion of a branch or tag.
func (t *teller) ref() error {
	ref := t.About.Ref
	name, kind := strings.TrimPrefix(ref, "refs/heads/"), "branch"
	if tag, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		name, kind = tag, "tag"
	}
	t.out["ref"], t.out["ref_type"], t.out["full_ref"], t.out["pusher_type"] = name, kind, ref, "user"
	if t.Name == "create" {
		t.out["master_branch"], t.out["description"] = t.repo.DefaultBranch, t.repo.Description
	}
	return nil
}

// maxNot is how many branches' histories are taken off a new one's.
const maxNot = 1000

// push notes which branches there are besides a new one: their commits are not new. The rest git knows.
func (t *teller) push() error {
	if git.SHA(t.About.Before) != git.ZeroSHA {
		return nil
	}
	branches, err := repo.Branches(t.tx, t.repo.ID)
	for name, sha := range branches {
		if name != t.About.Ref && len(t.not) < maxNot {
			t.not = append(t.not, sha)
		}
	}
	return err
}

// status renders a commit's status. The commit itself is read from git.
func (t *teller) status() error {
	s, err := status.ForHook(t.ctx, t.tx, t.repo, t.About.ID)
	if err != nil {
		return err
	}
	for name, v := range map[string]any{"id": s.ID, "target_url": s.TargetURL, "avatar_url": s.AvatarURL,
		"context": s.Context, "description": s.Description, "state": s.State, "created_at": s.CreatedAt,
		"updated_at": s.UpdatedAt, "sha": t.About.After, "name": t.repo.FullName()} {
		t.out[name] = v
	}
	return t.branchesAt(git.SHA(t.About.After))
}

// maxBranchesAt is how many branches a status shows.
const maxBranchesAt = 10

// branchesAt puts the branches whose tip a commit is.
func (t *teller) branchesAt(sha git.SHA) error {
	all, err := repo.Branches(t.tx, t.repo.ID)
	list, at := []object{}, t.info.API(web.Path("repos", t.repo.Owner.Login, t.repo.Name, "commits",
		string(sha)))
	names := []string{}
	for name, tip := range all {
		if tip == sha {
			names = append(names, strings.TrimPrefix(name, "refs/heads/"))
		}
	}
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxBranchesAt)] {
		list = append(list, object{"name": name, "commit": object{"sha": sha, "url": at}, "protected": false})
	}
	t.out["branches"] = list
	return err
}

func (t *teller) checkRun() error {
	run, err := t.from.Checks.RunForHook(t.ctx, t.tx, t.repo, t.About.ID)
	t.out["check_run"] = run
	return err
}

// checkSuite leaves out the head_commit, which git knows.
func (t *teller) checkSuite() error {
	suite, err := t.from.Checks.SuiteForHook(t.ctx, t.tx, t.repo, t.About.ID)
	t.out["check_suite"] = suite
	return err
}

// deployment renders a deployment. Workflows do not exist.
func (t *teller) deployment() (err error) {
	t.out["deployment"], err = deployment.ForHook(t.ctx, t.tx, t.repo, t.About.ID)
	t.out["workflow"], t.out["workflow_run"] = nil, nil
	return err
}

// deploymentStatus renders a status with its deployment.
func (t *teller) deploymentStatus() (err error) {
	t.out["deployment_status"], t.out["deployment"], err = deployment.StatusForHook(t.ctx, t.tx, t.repo, t.About.ID)
	t.out["check_run"], t.out["workflow"], t.out["workflow_run"] = nil, nil, nil
	return err
}
