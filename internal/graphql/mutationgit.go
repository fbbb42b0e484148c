package graphql

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

func createRef(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.act(ctx, "repositoryId", "Repository", "POST /repos/{owner}/{repo}/git/refs",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			sha, err := gitdata.ParseSHA(gitdata.RefResource, "sha", m.text("oid"))
			if err == nil {
				_, err = m.do.Git.MakeRef(ctx, a, m.text("name"), sha)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.refPayload(ctx, in, m.text("name"))
}

func (m *mutation) refPayload(ctx context.Context, in *object, name string) (map[string]any, error) {
	m.forget()
	ref, err := m.ref(ctx, in, name)
	return map[string]any{"ref": ref}, err
}

func updateRef(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.act(ctx, "refId", "Ref", "PATCH /repos/{owner}/{repo}/git/refs/{ref...}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			sha, err := gitdata.ParseSHA(gitdata.RefResource, "sha", m.text("oid"))
			if err == nil {
				_, err = m.do.Git.MoveRef(ctx, a, o.name, sha, m.flag("force").Value)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.refPayload(ctx, o.repo, o.name)
}

func deleteRef(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "refId", "Ref", "DELETE /repos/{owner}/{repo}/git/refs/{ref...}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			return m.do.Git.RemoveRef(ctx, a, o.name)
		})
	return map[string]any{}, err
}

// mergeBranch merges a branch or a commit into a branch.
func mergeBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	if m.given("authorEmail") {
		return nil, refused("A merge is authored with the e-mail address of who makes it.")
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/merges")
	if err != nil {
		return nil, err
	}
	sha, err := m.do.Pulls.MergeBranch(to, a, pull.BranchMerge{Base: m.text("base"), Head: m.text("head"),
		Message: m.text("commitMessage")})
	if errors.Is(err, pull.ErrUpToDate) {
		return nil, refused("Already merged")
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"mergeCommit": gitObject(in, "commit", string(sha))}, nil
}

// createCommitOnBranch adds, changes and deletes files with one commit, if the branch is at the expected
// commit.
func createCommitOnBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	in, name, err := m.branch(ctx)
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/git/commits")
	if err != nil {
		return nil, err
	}
	n, err := m.filesCommit(name)
	if err != nil {
		return nil, err
	}
	made, err := m.do.Git.Commit(to, a, n)
	if err != nil {
		told := asError(err)
		if e, ok := told.(*exec.Error); ok && errs.Is(err, errs.Conflict) {
			e.Type = "STALE_DATA"
		}
		return nil, told
	}
	payload, err := m.refPayload(ctx, in, "refs/heads/"+name)
	if err != nil {
		return nil, err
	}
	payload["commit"] = gitObject(in, "commit", string(made.SHA))
	return payload, nil
}

// filesCommit returns the commit that an input describes.
func (m *mutation) filesCommit(branch string) (n gitdata.FilesCommit, err error) {
	message, _ := m.input["message"].(map[string]any)
	n.Branch = branch
	n.Message, _ = message["headline"].(string)
	if more, _ := message["body"].(string); more != "" {
		n.Message += "\n\n" + more
	}
	n.Tip, err = gitdata.ParseSHA(gitdata.CommitResource, "expectedHeadOid", m.text("expectedHeadOid"))
	if err != nil {
		return n, err
	}
	files, _ := m.input["fileChanges"].(map[string]any)
	if n.Add, err = fileChanges(files["additions"]); err != nil {
		return n, err
	}
	n.Remove, err = fileChanges(files["deletions"])
	return n, err
}

func fileChanges(input any) (list []gitdata.FileChange, err error) {
	given, _ := input.([]any)
	for _, v := range given {
		one, _ := v.(map[string]any)
		path, _ := one["path"].(string)
		contents, _ := one["contents"].(string)
		change, err := gitdata.NewFileChange(path, contents)
		if err != nil {
			return nil, err
		}
		list = append(list, change)
	}
	return list, nil
}

// branch finds the branch that is to be committed to, by its id or by names.
func (m *mutation) branch(ctx context.Context) (in *object, name string, err error) {
	given, _ := m.input["branch"].(map[string]any)
	id, _ := given["id"].(string)
	at, _ := given["repositoryNameWithOwner"].(string)
	name, _ = given["branchName"].(string)
	owner, of, whole := strings.Cut(at, "/")
	switch {
	case id != "" && (at != "" || name != ""), id == "" && (!whole || name == ""):
		return nil, "", refused("A branch is named by its id, or by repositoryNameWithOwner and branchName.")
	case id == "":
		in, err = m.repository(ctx, owner+"/"+of)
		return in, strings.TrimPrefix(name, "refs/heads/"),
			orUnresolved(err, "a Repository with the name '"+clip(at)+"'")
	}
	v, err := m.find(ctx, id, "Ref")
	if err != nil {
		return nil, "", err
	}
	ref := v.(*object)
	name, isBranch := strings.CutPrefix(ref.name, "refs/heads/")
	if !isBranch {
		return nil, "", refused("Only a branch can be committed to.")
	}
	return ref.repo, name, nil
}
