# Steps that read the sources.

top_level() {
    diff <(printf '%s\n' Examples Package.swift README.md Sources Tests) <(ls)
    # A page that shows README.md cuts off longer lines of code.
    (! awk '/^```/ { code = !code } code && length > 92' README.md | grep .)
    # Hidden files are free, except for build products.
    git ls-files '.build*' '.swiftpm*' | (! grep .)
}

citations() {
    local id missing=0 count=0
    for id in $(grep -oE '^#+ [A-Z][0-9]+\b' Sources/Tether/Tether.docc/Contract.md | sed 's/.* //'); do
        count=$((count + 1))
        # In the name of a test or a scenario: a sentence in backticks, or XCTest's. A number stands for itself only: D1 is not D10.
        if ! grep -rqE --include='*.swift' "(func test|(func |^ +)\`([^\`]*[^A-Za-z0-9])?)$id([^0-9]|\$)" Tests; then
            echo "No test cites $id."
            missing=1
        fi
    done
    echo "$count lines of the contract were looked for."
    # A test that cites many lines of the contract says little about each. A name is behind `func`, or on a line of its own.
    if grep -rnE --include='*.swift' '^( *(@Test.* )?(private )?func| +) *`([A-Z][0-9]+ ){4}' Tests; then
        echo 'These tests cite more than three lines.'
        missing=1
    fi
    ((count > 0 && missing == 0))
}

format() { swift format lint --strict --recursive Sources Tests Examples Package.swift; }

# Comments, names of tests, pages and printed sentences use nouns: of each 1,000 words few are question words or pronouns, and
# observers are never said to go. Prints the places of a group that has too many. Code, tables and headings are not read.
plain_words() {
    local bad=0 names
    names=$(names_of_tests $(git ls-files 'Tests/*.swift' 'Examples/*.swift'))
    if grep -E '.{84}' <<<"$names"; then
        echo 'These names of tests are longer than 80 characters.'
        bad=1
    fi
    pronouns=60 count_words 'names of tests' <(echo "$names") || bad=1
    count_words 'comments of Sources' $(git ls-files 'Sources/*.swift' 'Sources/*.[ch]') || bad=1
    count_words 'comments of Tests' $(git ls-files 'Tests/*.swift' 'Tests/*.[ch]') || bad=1
    count_words 'comments of Examples' $(git ls-files 'Examples/*.swift') || bad=1
    # Guides address their reader, and so need pronouns and questions more often.
    pronouns=60 questions=6 count_words pages README.md $(git ls-files 'Sources/*.md') || bad=1
    # A short sentence about one object needs its pronouns more often.
    pronouns=60 count_words 'printed sentences' <(printed_sentences $(git ls-files 'Sources/*.swift')) || bad=1
    return "$bad"
}

# names_of_tests FILE...: the names in backticks, as comments. A name is behind `func`, or on the next line.
names_of_tests() {
    awk 'match($0, /(func|^) *`[^`]+`/) {
        name = substr($0, RSTART, RLENGTH)
        gsub(/.*func *`|^ *`|`$/, "", name)
        if (name ~ / /) print "// " name
    }' "$@"
}

# printed_sentences FILE...: the string literals of six words and more, as comments, each behind its file's name.
printed_sentences() {
    grep -vE '^ *//' "$@" | sed -E 's/\\\([^)]*\)/`X`/g' | sed -nE 's/^([^:]*):[^"]*"((\\.|[^"\\])*)".*/\/\/ `\1` \2/p' |
        awk 'NF >= 8'
}

# count_words NAME FILE...: counts for each 1,000 words.
count_words() {
    awk -v name="$1" -v pronouns="${pronouns:-50}" -v questions="${questions:-3}" '
        BEGIN {
            limit["question words"] = questions; limit["pronouns"] = pronouns; limit["going"] = 0.5
            limit["telling"] = 0.5; limit["fronted which"] = 1.5
            list("question words", "what who whoever whatever whom")
            list("pronouns", "it its this that those these one ones they them")
            list("going", "goes gone")
            list("telling", "tell tells told")
            list("preposition", "of for in on by from to at under after before with")
        }
        function list(group, text, i, n, parts) {
            n = split(text, parts, " ")
            for (i = 1; i <= n; i++) kinds[parts[i]] = group
        }
        function hit(group, line) {
            hits[group]++
            if (group != "pronouns") places[group] = places[group] "\n    " FILENAME ":" FNR ": " line
        }
        function read(text, line, i, n, parts, word) {
            gsub(/`[^`]*`/, " ", text)
            gsub(/<doc:[^>]*>|\]\([^)]*\)/, " ", text)
            gsub(/[^A-Za-z\x27]+/, " ", text)
            n = split(tolower(text), parts, " ")
            for (i = 1; i <= n; i++) {
                word = parts[i]
                words++
                if (kinds[word] in limit) hit(kinds[word], line)
                if (word == "which" && kinds[previous] == "preposition") hit("fronted which", line)
                previous = word
            }
        }
        FNR == 1 { code = 0; previous = "" }
        FILENAME ~ /\.md$/ {
            if ($1 ~ /^```/) code = !code
            else if (!code && $1 !~ /^[#|@<]/) read($0, $0)
            next
        }
        $1 ~ /^(\/\/|\*)/ && $0 !~ /MARK|swift-format|- Param/ {
            if ($2 ~ /^```/) code = !code
            else if (!code) read($0, $0)
            next
        }
        { code = 0 }
        END {
            for (group in limit) {
                count = 1000 * hits[group] / (words + 1)
                if (count <= limit[group]) continue
                printf "%s: %.1f %s for each 1,000 words; at most %s.%s\n", name, count, group, limit[group], places[group]
                bad = 1
            }
            printf "%s: %d words were read.\n", name, words
            exit bad
        }' "${@:2}"
}
