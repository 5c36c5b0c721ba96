# bash completion for legosketch. tests/test_cli.py checks that it knows every command and option.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2207

_legosketch()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
    local commands='count build query top merge fold info suggest gen eval demo train lab report help'
    local input='-f --format --column --delimiter --no-header --keep-cr --keep-nul --on-error'
    local rows='--csv --json --header'
    local options='' values=''
    COMPREPLY=()

    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
        return
    fi
    case $command in
        count) options="-k --items --above $rows $input -b --budget --seed-file -q --quiet -h --help" ;;
        build)
            options="-o --output -b --budget --top -m --model -s --seed --seed-file $input -a --append -t --threads --blocks
                --columns --json -q --quiet -h --help" ;;
        query) options="-f --format --absent $rows --keep-cr --keep-nul -m --model --seed-file -h --help" ;;
        top) options="-k --items --above $rows -m --model --seed-file -h --help" ;;
        merge) options='-o --output -m --model --seed-file -h --help' ;;
        fold) options='-o --output -b --budget -k --blocks -m --model --seed-file -h --help' ;;
        info) options='--json --scan -m --model --seed-file -h --help' ;;
        suggest) options="-n --distinct -e --error --skew $input $rows -q --quiet -h --help" ;;
        gen) options='-n --distinct -a --alpha -s --seed -f --format -q --quiet -h --help' ;;
        eval)
            options="--methods -b --budget --seeds -s --seed -m --model $input --json -q --quiet -h --help" ;;
        demo) options='-b --budget -n --distinct -a --alpha -s --seed -h --help' ;;
        train)
            options='-o --out -p --preset --tasks -s --seed --backend -t --threads --name -c --checkpoint --every -r
                --resume -l --log --from-rule --fixed-v --no-normalisation --no-scan --plain-loss --n-min --alpha-max
                --scouts --scout-alpha --rate --rate-v --fall --last-step --batch --scale-min --scale-max --rate-end --score
                -q --quiet -h --help' ;;
        lab)
            options="-o --output --methods -b --budget --alphas -n --distinct --scale --seeds -s --seed -t --threads $input
                --models --quick -q --quiet -h --help" ;;
        report) options='-o --output -r --reference -q --quiet -h --help' ;;
        help)
            COMPREPLY=($(compgen -W "$commands" -- "$word"))
            return ;;
        *) return ;;
    esac

    case "$command $before" in
        'build -a' | 'train -r') before= ;; # --append and --resume; elsewhere these letters take a value
    esac
    case $before in
        -f | --format)
            case $command in
                gen) values='lines tsv u32 u64' ;;
                query) values='lines u32 u64' ;;
                *) values='lines tsv csv uniq u32 u64' ;;
            esac ;;
        -e | --error) values='50% 10% 1% 0.1% exact' ;;
        --skew) values='low middle high' ;;
        --on-error) values='stop skip' ;;
        --fall) values='stages late linear' ;;
        -p | --preset) values='ours published authors quick ms-ours ms-published' ;;
        --backend) values='cpu cuda' ;;
        --methods) values='lego rule lego-paper rule-paper d-lego d-lego-paper d-lego-quarter cms cs cs-clipped lcs d-cms
            d-cms-quarter cu cmm tower-cm tower-cu salsa-cu elastic heavy-keeper space-saving misra-gries
            fingerprint cqf ideal-top ms one exact' ;;
        -b | --budget) values='100K 300K 1M 10M' ;;
        -m | --model)
            COMPREPLY=($(compgen -W 'compact paper' -- "$word") $(compgen -f -X '!*.lego' -- "$word") $(compgen -d -- "$word"))
            return ;;
        -o | --output | --out | -c | --checkpoint | -l | --log | --seed-file)
            COMPREPLY=($(compgen -f -- "$word"))
            return ;;
        -r | --reference)
            COMPREPLY=($(compgen -d -- "$word"))
            return ;;
        -s | --seed | --seeds | -t | --threads | --blocks | -k | --items | --columns | -n | --distinct | -a | --alpha \
            | --column | --delimiter | --above | --absent | --tasks | --every | --name | --alphas | --scale | --models) return ;;
    esac
    if [[ -n $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ $command == lab ]] && ((COMP_CWORD == 2)); then
        COMPREPLY=($(compgen -W 'real space synthetic speed ablations skew bound scaling bytes all' -- "$word"))
    elif [[ $command == gen ]]; then
        COMPREPLY=($(compgen -W 'zipf' -- "$word"))
    elif [[ $command != demo && $command != train ]]; then
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}

complete -o filenames -F _legosketch legosketch
