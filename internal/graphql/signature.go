package graphql

import (
	"context"
	"strings"

	"arbor/internal/account/signkey"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/signature"
)

// commitSignature resolves the signature of a commit, null without one.
func commitSignature(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	c := o.value.(*gitdata.CommitPayload)
	v := c.Commit.Verification
	if v.Signature == nil {
		return nil, nil
	}
	byServer, err := signedByServer(ctx, c)
	if err != nil {
		return nil, err
	}
	kind, handle := signature.Describe(*v.Signature)
	s := bare{"UnknownSignature", map[string]any{
		"email": c.Commit.Committer.Email, "isValid": v.Verified, "payload": deref(v.Payload),
		"signature": *v.Signature, "state": signatureState(v.Reason), "verifiedAt": deref(v.VerifiedAt),
		"wasSignedByGitHub": byServer}}
	switch kind {
	case signkey.OpenPGP:
		s.kind, s.fields["keyId"] = "GpgSignature", handle
	case signkey.SSH:
		s.kind, s.fields["keyFingerprint"] = "SshSignature", strings.TrimPrefix(handle, "SHA256:")
	}
	if v.Verified && !byServer { // verified is what the account of the address signed
		s.fields["signer"] = userOf(c.Committer)
	}
	return s, nil
}

// signedByServer reports that a commit was made on a page or by the API, and has the server's signature.
func signedByServer(ctx context.Context, c *gitdata.CommitPayload) (bool, error) {
	v := c.Commit.Verification
	if v.Signature == nil || !v.Verified {
		return false, nil
	}
	_, own, err := queryOf(ctx).load.Signatures.PublicKey()
	_, handle := signature.Describe(*v.Signature)
	return handle == own, err
}

// signatureState is GitSignatureState's word for a reason of REST.
func signatureState(reason signature.Reason) string {
	switch reason {
	case signature.UnknownType:
		return "UNKNOWN_SIG_TYPE"
	case signature.Malformed:
		return "MALFORMED_SIG"
	}
	return strings.ToUpper(string(reason))
}
