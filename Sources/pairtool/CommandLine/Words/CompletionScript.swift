import CompanionWire

/// Changes the completion script for bash, so that it can offer titles and names from hosts.
///
/// In the script that the argument parser writes, bash expands the words it is offered (`compgen -W`) and treats each
/// one as a file name: it would run a command inside a title, and append `/` to a word that is also the name of a
/// directory.
enum CompletionScript {
    /// The environment variable that tells the program that bash does not expand the offered words.
    static let variable = "PAIRTOOL_COMPLETION"

    private static let call = #"    "${COMP_WORDS[0]}" "${@}" "${words[@]}""#
    private static let offer = "__pairtool_add_completions -W \"$(__pairtool_custom_complete"
    private static let function = "__pairtool_custom_complete() {"

    private static let offerNames = #"""
        # Offers each line as one word, quoted for the shell. Nothing in it is expanded.
        __pairtool_offer_names() {
            local name typed="${cur}" quote=''
            # bash gives the word without its quotation mark, or with it.
            case "${COMP_WORDS[COMP_CWORD]}" in
            \"* | \'*) quote="${COMP_WORDS[COMP_CWORD]:0:1}" typed="${typed#[\"\']}" ;;
            *) typed="${typed//\\/}" ;;
            esac
            compopt +o filenames 2>/dev/null
            while IFS='' read -r name; do
                [[ -n "${name}" && "${name}" == "${typed}"* ]] || continue
                case "${quote}" in
                '') printf -v name %q "${name}" ;;
                \') [[ "${name}" != *\'* ]] || continue ;;
                \")
                    # Within quotation marks bash expands these, and there is no way to keep it from expanding `!`.
                    [[ "${name}" != *'!'* ]] || continue
                    name="${name//\\/\\\\}" name="${name//\"/\\\"}" name="${name//\$/\\\$}" name="${name//\`/\\\`}"
                    ;;
                esac
                COMPREPLY+=("${name}")
            done <<<"${1}"
        }


        """#

    /// - Parameter text: The text that the argument parser prints with exit code 0.
    /// - Returns: The changed script, or the text itself if it is none.
    static func readable(_ text: String) -> String {
        let isScript = ["#!/bin/bash", "#compdef", "function __pairtool"].contains { text.begins(with: $0) }
        guard isScript else { return text }
        let text = DefaultCompletions.added(to: text)
        guard text.begins(with: "#!/bin/bash") else { return text }
        return text.replacing(call, with: "    \(variable)=names" + call.dropFirst(3))
            .replacing(offer, with: "__pairtool_offer_names \"$(__pairtool_custom_complete")
            .replacing(function, with: offerNames + function, maxReplacements: 1)
    }
}
