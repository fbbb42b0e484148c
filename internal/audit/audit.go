// Package audit is the log of who changed accounts, access, membership, visibility, ownership
// or tokens, in the table audit.
//
//	audit.go     what is recorded, and about whom
//	store.go     the SQL
//	query.go     the subset of GitHub's search phrases that lists understand, and cursors
//	payload.go   the form of GitHub's audit log
//	prune.go     deletes rows that are too old
//	notice.go    mails to people about the security of their accounts
//
// [Record] writes a row in the transaction of the change it describes, so neither can exist without the
// other. The actor is in the context ([With]), set by package server for a request and by cmd/arbor for an
// operator's command. Rows have names at the time of the change, and never secrets or texts of users.
//
// It imports none of the features that record; package account has the endpoints.
package audit

import (
	"context"
	"encoding/json"

	"arbor/internal/db"
)

// Action is what happened, named as in GitHub's audit log if that has it.
type Action string

// The actions.
const (
	UserCreate      Action = "user.create"
	UserUpdate      Action = "user.update"
	UserRename      Action = "user.rename"
	UserClaim       Action = "user.claim_mannequin"
	ClaimDecline    Action = "user.decline_claim"
	UserDelete      Action = "user.delete"
	UserSuspend     Action = "user.suspend"
	UserUnsuspend   Action = "user.unsuspend"
	UserPromote     Action = "user.promote"
	UserDemote      Action = "user.demote"
	UserPassword    Action = "user.change_password"
	UserLogin       Action = "user.login"
	UserLogout      Action = "user.logout"
	UserAddEmail    Action = "user.add_email"
	UserVerifyEmail Action = "user.verify_email"
	UserRemoveEmail Action = "user.remove_email"

	FactorAdd      Action = "two_factor_authentication.add_factor"
	FactorRemove   Action = "two_factor_authentication.remove_factor"
	FactorRename   Action = "two_factor_authentication.rename_factor"
	FactorDisabled Action = "two_factor_authentication.disabled" // by an administrator
	RecoveryCodes  Action = "two_factor_authentication.recovery_codes_regenerated"
	IdentityLink   Action = "external_identity.provision" // of another server, see package oidc
	IdentityUnlink Action = "external_identity.deprovision"
	// what a provider tells by SCIM, see package external
	PersonProvision   Action = "external_user.provision"
	PersonUpdate      Action = "external_user.update"
	PersonDeprovision Action = "external_user.deprovision"
	GroupProvision    Action = "external_group.provision"
	GroupUpdate       Action = "external_group.update"
	GroupDeprovision  Action = "external_group.delete"

	OrgFactorsOn   Action = "org.enable_two_factor_requirement"
	OrgFactorsOff  Action = "org.disable_two_factor_requirement"
	SiteFactorsOn  Action = "business.enable_two_factor_requirement" // of the site
	SiteFactorsOff Action = "business.disable_two_factor_requirement"
	SignupUpdate   Action = "business.update_signup" // how accounts begin, see package signup
	SignupInvite   Action = "business.invite_member"
	SignupRevoke   Action = "business.cancel_invitation"
	SignupDecline  Action = "business.decline_member"
	SessionConfirm Action = "user.sudo" // a session's user confirmed who it is

	TokenCreate  Action = "personal_access_token.create"
	TokenDestroy Action = "personal_access_token.destroy"
	OAuthCreate  Action = "oauth_authorization.create"
	OAuthDestroy Action = "oauth_authorization.destroy"
	KeyCreate    Action = "public_key.create"
	KeyDelete    Action = "public_key.delete"

	OAuthAccessCreate  Action = "oauth_access.create"
	OAuthAccessDestroy Action = "oauth_access.destroy"
	OAuthAccessReset   Action = "oauth_access.regenerate"
	OAuthAppCreate     Action = "oauth_application.create"
	OAuthAppUpdate     Action = "oauth_application.update"
	OAuthAppDestroy    Action = "oauth_application.destroy"
	OAuthAppTransfer   Action = "oauth_application.transfer"
	OAuthAppSecret     Action = "oauth_application.generate_client_secret"
	OAuthAppDropSecret Action = "oauth_application.remove_client_secret"
	OpenIDKeyRotate    Action = "business.rotate_openid_key" // that signs ID tokens, see package openid

	GPGKeyCreate     Action = "gpg_key.create"
	GPGKeyDelete     Action = "gpg_key.delete"
	SigningKeyCreate Action = "ssh_signing_key.create"
	SigningKeyDelete Action = "ssh_signing_key.delete"

	OrgCreate        Action = "org.create"
	OrgUpdate        Action = "org.update"
	OrgRename        Action = "org.rename"
	OrgDelete        Action = "org.delete"
	OrgAddMember     Action = "org.add_member"
	OrgUpdateMember  Action = "org.update_member"
	OrgRemoveMember  Action = "org.remove_member"
	OrgOAuthRestrict Action = "org.enable_oauth_app_restrictions"
	OrgOAuthOpen     Action = "org.disable_oauth_app_restrictions"
	OrgOAuthAsk      Action = "org.oauth_app_access_requested"
	OrgOAuthApprove  Action = "org.oauth_app_access_approved"
	OrgOAuthDeny     Action = "org.oauth_app_access_denied"
	OrgInvite        Action = "org.invite_member"
	OrgInviteCancel  Action = "org.cancel_invitation"
	OrgInviteReject  Action = "org.decline_invitation" // one that is accepted is an OrgAddMember

	TeamCreate       Action = "team.create"
	TeamUpdate       Action = "team.update"
	TeamDestroy      Action = "team.destroy"
	TeamAddMember    Action = "team.add_member"
	TeamUpdateMember Action = "team.update_member"
	TeamRemoveMember Action = "team.remove_member"
	TeamAddRepo      Action = "team.add_repository"
	TeamUpdateRepo   Action = "team.update_repository_permission"
	TeamRemoveRepo   Action = "team.remove_repository"

	RepoCreate      Action = "repo.create"
	RepoUpdate      Action = "repo.update"
	RepoRename      Action = "repo.rename"
	RepoAccess      Action = "repo.access"
	RepoArchived    Action = "repo.archived"
	RepoUnarchived  Action = "repo.unarchived"
	RepoDestroy     Action = "repo.destroy"
	RepoTransfer    Action = "repo.transfer"
	RepoTransferOut Action = "repo.transfer_outgoing" // of the organization that had it
	RepoPurge       Action = "repo.purge"
	RepoGiveBack    Action = "repo.give_back"
	RepoRestore     Action = "repo.restore"

	RepoSetMirror        Action = "repo.set_mirror" // of another repository; see package mirror
	RepoRemoveMirror     Action = "repo.remove_mirror"
	RepoAddPushMirror    Action = "repo.add_push_mirror"
	RepoRemovePushMirror Action = "repo.remove_push_mirror"
	RepoImport           Action = "repo.import" // from another server; see package migration/job
	RepoImportCancel     Action = "repo.import_cancel"

	RepoAddMember    Action = "repo.add_member"
	RepoUpdateMember Action = "repo.update_member"
	RepoRemoveMember Action = "repo.remove_member"

	RepoInvite       Action = "repository_invitation.create"
	RepoInviteUpdate Action = "repository_invitation.update"
	RepoInviteCancel Action = "repository_invitation.cancel"
	RepoInviteReject Action = "repository_invitation.reject" // one that is accepted is a RepoAddMember

	IssueDestroy  Action = "issue.destroy"
	IssueTransfer Action = "issue.transfer"

	HookCreate        Action = "hook.create"
	HookConfigChanged Action = "hook.config_changed"
	HookEventsChanged Action = "hook.events_changed"
	HookActiveChanged Action = "hook.active_changed"
	HookDestroy       Action = "hook.destroy"
	HookPing          Action = "hook.ping"
	HookTest          Action = "hook.test"
	HookRedeliver     Action = "hook.redeliver"

	RulesetCreate     Action = "repository_ruleset.create"
	RulesetUpdate     Action = "repository_ruleset.update"
	RulesetDestroy    Action = "repository_ruleset.destroy"
	ProtectionCreate  Action = "protected_branch.create"
	ProtectionUpdate  Action = "protected_branch.update"
	ProtectionDestroy Action = "protected_branch.destroy"

	ChecksAutoOn  Action = "checks.auto_trigger_enabled"
	ChecksAutoOff Action = "checks.auto_trigger_disabled"

	EnvironmentCreate Action = "environment.create"
	EnvironmentUpdate Action = "environment.update_protection_rule"
	EnvironmentDelete Action = "environment.delete"

	AppCreate                 Action = "integration.create"
	AppUpdate                 Action = "integration.update"
	AppKey                    Action = "integration.generate_private_key"
	AppDestroy                Action = "integration.destroy"
	InstallationCreate        Action = "integration_installation.create"
	InstallationDestroy       Action = "integration_installation.destroy"
	InstallationSuspend       Action = "integration_installation.suspend"
	InstallationUnsuspend     Action = "integration_installation.unsuspend"
	InstallationAddRepos      Action = "integration_installation.repositories_added"
	InstallationRemoveRepos   Action = "integration_installation.repositories_removed"
	InstallationSetPermission Action = "integration_installation.version_updated"

	SiteAdminRefused Action = "site_admin.refused" // nothing happened: who asked may not

	StoreBackup  Action = "store.backup"
	StoreRestore Action = "store.restore"
	StoreMove    Action = "store.move"
	StoreClaim   Action = "store.claim"
)

// Actions are all of them.
var Actions = []Action{
	UserCreate, UserUpdate, UserRename, UserClaim, ClaimDecline, UserDelete, UserSuspend, UserUnsuspend, UserPromote, UserDemote,
	UserPassword, UserLogin, UserLogout, UserAddEmail, UserVerifyEmail, UserRemoveEmail, TokenCreate,
	TokenDestroy, OAuthCreate, OAuthDestroy, OAuthAccessCreate, OAuthAccessDestroy,
	IdentityLink, IdentityUnlink, PersonProvision, PersonUpdate, PersonDeprovision, GroupProvision, GroupUpdate,
	GroupDeprovision, OrgFactorsOn, OrgFactorsOff, SiteFactorsOn, SiteFactorsOff,
	SignupUpdate, SignupInvite, SignupRevoke, SignupDecline,
	OAuthAccessReset, OAuthAppCreate, OAuthAppUpdate, OAuthAppDestroy, OAuthAppTransfer, OAuthAppSecret,
	OAuthAppDropSecret, OpenIDKeyRotate, KeyCreate, KeyDelete, GPGKeyCreate, GPGKeyDelete, SigningKeyCreate,
	SigningKeyDelete, OrgCreate,
	OrgUpdate, OrgRename, OrgDelete, OrgAddMember, OrgUpdateMember, OrgRemoveMember,
	OrgOAuthRestrict, OrgOAuthOpen, OrgOAuthAsk, OrgOAuthApprove, OrgOAuthDeny,
	OrgInvite, OrgInviteCancel, OrgInviteReject, TeamCreate, TeamUpdate,
	TeamDestroy, TeamAddMember, TeamUpdateMember, TeamRemoveMember, TeamAddRepo, TeamUpdateRepo, TeamRemoveRepo,
	RepoCreate, RepoUpdate,
	RepoRename, RepoAccess, RepoArchived, RepoUnarchived, RepoDestroy, RepoTransfer,
	RepoTransferOut, RepoPurge, RepoSetMirror, RepoRemoveMirror, RepoAddPushMirror, RepoRemovePushMirror,
	RepoImport, RepoImportCancel,
	RulesetCreate, RulesetUpdate, RulesetDestroy, ProtectionCreate, ProtectionUpdate, ProtectionDestroy,
	IssueDestroy, IssueTransfer, ChecksAutoOn, ChecksAutoOff, RepoGiveBack, RepoRestore, RepoAddMember, RepoUpdateMember,
	RepoRemoveMember, RepoInvite, RepoInviteUpdate, RepoInviteCancel, RepoInviteReject,
	HookCreate, HookConfigChanged,
	HookEventsChanged, HookActiveChanged, HookDestroy, HookPing, HookTest, HookRedeliver,
	EnvironmentCreate, EnvironmentUpdate, EnvironmentDelete,
	AppCreate, AppUpdate,
	AppKey, AppDestroy, InstallationCreate,
	InstallationDestroy, InstallationSuspend, InstallationUnsuspend, InstallationAddRepos,
	InstallationRemoveRepos,
	InstallationSetPermission, SiteAdminRefused,
	StoreBackup, StoreRestore, StoreMove, StoreClaim,
}

// Rights that allowed an action, besides those of routes.
const (
	Operator       = "operator"   // the command line
	Process        = "process"    // the server itself, or a seed
	SiteAdmin      = "site admin" // also where another right would have done
	OrgOwner       = "organization owner"
	Maintain       = "maintain"
	RepoAdmin      = "admin"
	TeamMaintainer = "team maintainer"
	Self           = "self" // everybody may do this with what is theirs
	NoRight        = "none" // it was refused
)

// Actor is who acts, and from where.
type Actor struct {
	ID        int64  // 0: no account's
	Login     string // as it is now
	Address   string // the client's; of the operator the system's user
	TokenID   int64  // 0: none
	Right     string // the route's, or Operator
	SiteAdmin bool   // it has all rights as a site administrator
	Request   string // the id of the request; empty: none
}

type actorKey struct{}

// With returns a context whose transactions record that the actor acts.
func With(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// Allowed returns a context whose actor was allowed to act by a right, where the route asked for less. The
// operator and the server itself need none.
func Allowed(ctx context.Context, right string) context.Context {
	a, known := ctx.Value(actorKey{}).(Actor)
	if !known || a.Right == Operator || a.Right == Process {
		return ctx
	}
	a.Right = right
	return With(ctx, a)
}

// Named is an account or a repository with its name as it was.
type Named struct {
	ID   int64
	Name string
}

// Entry is something that happened. What does not apply is zero.
type Entry struct {
	Action  Action
	Org     Named          // whose owners may read the entry
	User    Named          // whom it was done to
	Repo    Named          // with OWNER/NAME
	Right   string         // by which it was allowed, if not by the route's
	Changes map[string]any // names, roles, visibility; nil: nothing to tell
}

// Record notes what happens in the transaction.
func Record(tx *db.Tx, e Entry) error {
	by, known := tx.Value(actorKey{}).(Actor)
	if !known {
		by.Right = Process
	}
	changes := []byte("{}")
	if e.Changes != nil {
		var err error
		if changes, err = json.Marshal(e.Changes); err != nil {
			return err
		}
	}
	id, err := insert(tx, &e, &by, allowed(&e, &by), string(changes))
	if err != nil {
		return err
	}
	return notify(tx, &e, id)
}

// allowed is the right by which the actor did it.
func allowed(e *Entry, by *Actor) string {
	right := by.Right
	if e.Right != "" && right != Operator && right != Process {
		right = e.Right
	}
	if by.SiteAdmin && (right == Maintain || right == RepoAdmin || right == OrgOwner) {
		return SiteAdmin // nobody asked whether it has the other right, too
	}
	return right
}
