-- Five roles in place of three: 1 pull, 2 triage, 3 push, 4 maintain, 5 admin. A program of before would take
-- triage for push and push for admin.
UPDATE collaborators SET role = CASE role WHEN 3 THEN 5 WHEN 2 THEN 3 ELSE role END WHERE role >= 2;
UPDATE accounts SET default_role = CASE default_role WHEN 3 THEN 5 WHEN 2 THEN 3 ELSE default_role END
WHERE default_role >= 2;
