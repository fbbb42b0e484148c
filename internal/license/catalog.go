package license

// What licenses allow, demand and exclude, by the words of GitHub's API.
var (
	anyUse       = []string{"commercial-use", "modifications", "distribution", "private-use"}
	withPatents  = []string{"commercial-use", "modifications", "distribution", "patent-use", "private-use"}
	notice       = []string{"include-copyright"}
	noConditions = []string{}
	noWarranty   = []string{"liability", "warranty"}
	noMarks      = []string{"trademark-use", "liability", "warranty"}
	noPatents    = []string{"patent-use", "trademark-use", "liability", "warranty"}
	copyleft     = []string{"include-copyright", "document-changes", "disclose-source", "same-license"}
	overNetwork  = []string{"include-copyright", "document-changes", "disclose-source",
		"network-use-disclose", "same-license"}
	library = []string{"include-copyright", "disclose-source", "document-changes", "same-license--library"}
	eclipse = []string{"disclose-source", "include-copyright", "same-license"}
)

// catalog is sorted by key.
var catalog = []License{
	{"0BSD", "BSD Zero Clause License", false, "Allows everything, without any condition.",
		anyUse, noConditions, noWarranty},
	{"AGPL-3.0", "GNU Affero General Public License v3.0", true,
		"Works that contain it, or let people use it over a network, are given with their source under the same " +
			"license. Grants patents.",
		withPatents, overNetwork, noWarranty},
	{"Apache-2.0", "Apache License 2.0", true,
		"Allows everything if notices stay and changes are said. Grants patents.",
		withPatents, []string{"include-copyright", "document-changes"}, noMarks},
	{"Artistic-2.0", "Artistic License 2.0", false,
		"Allows changed versions that are distinguishable from the original. Grants patents.",
		withPatents, []string{"include-copyright", "document-changes"}, noMarks},
	{"BSD-2-Clause", `BSD 2-Clause "Simplified" License`, true, "Allows everything if the notice stays.",
		anyUse, notice, noWarranty},
	{"BSD-3-Clause", `BSD 3-Clause "New" or "Revised" License`, true,
		"Allows everything if the notice stays. The authors' names may not advertise what is made of it.",
		anyUse, notice, noWarranty},
	{"BSL-1.0", "Boost Software License 1.0", true,
		"Allows everything; the notice stays with the source, and need not be in binaries.",
		anyUse, []string{"include-copyright--source"}, noWarranty},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International", false,
		"For works that are not software: allows everything with credit.",
		anyUse, []string{"include-copyright", "document-changes"}, noPatents},
	{"CC-BY-SA-4.0", "Creative Commons Attribution Share Alike 4.0 International", false,
		"For works that are not software: allows everything with credit, under the same license.",
		anyUse, []string{"include-copyright", "document-changes", "same-license"}, noPatents},
	{"CC0-1.0", "Creative Commons Zero v1.0 Universal", true,
		"Gives up all rights, as far as the law allows.",
		anyUse, noConditions, noPatents},
	{"EPL-1.0", "Eclipse Public License 1.0", false,
		"What is changed of it is given with its source under the same license. Grants patents.",
		withPatents, eclipse, noWarranty},
	{"EPL-2.0", "Eclipse Public License 2.0", true,
		"What is changed of it is given with its source under the same license, or one that its authors allow. " +
			"Grants patents.",
		withPatents, eclipse, noWarranty},
	{"GPL-2.0", "GNU General Public License v2.0", true,
		"Works that contain it are given with their source under the same license.",
		anyUse, copyleft, noWarranty},
	{"GPL-3.0", "GNU General Public License v3.0", true,
		"Works that contain it are given with their source under the same license. Grants patents.",
		withPatents, copyleft, noWarranty},
	{"ISC", "ISC License", false, "Allows everything if the notice stays, in few words.",
		anyUse, notice, noWarranty},
	{"LGPL-2.1", "GNU Lesser General Public License v2.1", true,
		"The library itself is given with its source under the same license; " +
			"what only uses it may have another one.",
		anyUse, library, noWarranty},
	{"LGPL-3.0", "GNU Lesser General Public License v3.0", false,
		"The library itself is given with its source under the same license; what only uses it may have another one. " +
			"Grants patents.",
		withPatents, library, noWarranty},
	{"MIT", "MIT License", true, "Allows everything if the notice stays.",
		anyUse, notice, noWarranty},
	{"MIT-0", "MIT No Attribution", false, "Allows everything, without any condition.",
		anyUse, noConditions, noWarranty},
	{"MPL-2.0", "Mozilla Public License 2.0", true,
		"Files of it that are changed are given with their source under the same license. Grants patents.",
		withPatents, []string{"disclose-source", "include-copyright", "same-license--file"}, noMarks},
	{"MS-PL", "Microsoft Public License", false,
		"Allows everything if the notice stays and source stays under the same license. Grants patents.",
		withPatents, notice, []string{"trademark-use", "warranty"}},
	{"NCSA", "University of Illinois/NCSA Open Source License", false,
		"Allows everything if the notice stays. The authors' names may not advertise what is made of it.",
		anyUse, notice, noWarranty},
	{"OFL-1.1", "SIL Open Font License 1.1", false,
		"For fonts: allows everything but selling them alone, under the same license.",
		anyUse, []string{"include-copyright", "same-license"}, noWarranty},
	{"PostgreSQL", "PostgreSQL License", false, "Allows everything if the notice stays.",
		anyUse, notice, noWarranty},
	{"Unlicense", "The Unlicense", true, "Gives up all rights, as far as the law allows.",
		anyUse, noConditions, noWarranty},
	{"UPL-1.0", "Universal Permissive License v1.0", false,
		"Allows everything if the notice stays. Grants patents.",
		withPatents, notice, noWarranty},
	{"WTFPL", "Do What The F*ck You Want To Public License", false,
		"Allows everything, without any condition.",
		anyUse, noConditions, []string{}},
	{"Zlib", "zlib License", false,
		"Allows everything if changes are said and the notice stays with the source.",
		anyUse, []string{"include-copyright--source", "document-changes"}, noWarranty},
}
