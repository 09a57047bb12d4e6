"""The papers that views name, so that an export can cite them."""

import re
import sys
from collections.abc import Iterable

from explorer.ui.view import View

APP = (
    "The authors of BERT Explorer. BERT Explorer: see and test what BERT does, layer by layer. Version {version}, 2026. Software."
)
"""The app, as CITATION.cff has it."""

PAPERS = {
    "Abnar & Zuidema 2020": "S. Abnar, W. Zuidema. Quantifying Attention Flow in Transformers. ACL 2020.",
    "Belrose et al. 2023": "N. Belrose et al. Eliciting Latent Predictions from Transformers with the Tuned Lens. 2023.",
    "Clark et al. 2019": "K. Clark, U. Khandelwal, O. Levy, C. Manning. What Does BERT Look At? An Analysis of BERT's Attention. "
    "BlackboxNLP 2019.",
    "Clark et al. 2020": "K. Clark, M.-T. Luong, Q. Le, C. Manning. ELECTRA: Pre-training Text Encoders as Discriminators Rather "
    "Than Generators. ICLR 2020.",
    "Devlin et al. 2019": "J. Devlin, M.-W. Chang, K. Lee, K. Toutanova. BERT: Pre-training of Deep Bidirectional Transformers "
    "for Language Understanding. NAACL 2019.",
    "Ethayarajh 2019": "K. Ethayarajh. How Contextual are Contextualized Word Representations? EMNLP 2019.",
    "Ferrando et al. 2022": "J. Ferrando, G. Gállego, M. Costa-jussà. Measuring the Mixing of Contextual Information in the "
    "Transformer. EMNLP 2022.",
    "Geiger et al. 2021": "A. Geiger, H. Lu, T. Icard, C. Potts. Causal Abstractions of Neural Networks. NeurIPS 2021.",
    "Gers et al. 2000": "F. Gers, J. Schmidhuber, F. Cummins. Learning to Forget: Continual Prediction with LSTM. Neural "
    "Computation 2000.",
    "Geva et al. 2021": "M. Geva, R. Schuster, J. Berant, O. Levy. Transformer Feed-Forward Layers Are Key-Value Memories. "
    "EMNLP 2021.",
    "Guo et al. 2017": "C. Guo, G. Pleiss, Y. Sun, K. Weinberger. On Calibration of Modern Neural Networks. ICML 2017.",
    "Hewitt & Liang 2019": "J. Hewitt, P. Liang. Designing and Interpreting Probes with Control Tasks. EMNLP 2019.",
    "Hochreiter & Schmidhuber 1997": "S. Hochreiter, J. Schmidhuber. Long Short-Term Memory. Neural Computation 1997.",
    "Jain & Wallace 2019": "S. Jain, B. Wallace. Attention is not Explanation. NAACL 2019.",
    "Joshi et al. 2020": "M. Joshi et al. SpanBERT: Improving Pre-training by Representing and Predicting Spans. TACL 2020.",
    "Kobayashi et al. 2020": "G. Kobayashi, T. Kuribayashi, S. Yokoi, K. Inui. Attention is Not Only a Weight: Analyzing "
    "Transformers with Vector Norms. EMNLP 2020.",
    "Kornblith et al. 2019": "S. Kornblith, M. Norouzi, H. Lee, G. Hinton. Similarity of Neural Network Representations "
    "Revisited. ICML 2019.",
    "Kovaleva et al. 2019": "O. Kovaleva, A. Romanov, A. Rogers, A. Rumshisky. Revealing the Dark Secrets of BERT. EMNLP 2019.",
    "Lan et al. 2020": "Z. Lan et al. ALBERT: A Lite BERT for Self-supervised Learning of Language Representations. ICLR 2020.",
    "Meng et al. 2022": "K. Meng, D. Bau, A. Andonian, Y. Belinkov. Locating and Editing Factual Associations in GPT. "
    "NeurIPS 2022.",
    "Michel et al. 2019": "P. Michel, O. Levy, G. Neubig. Are Sixteen Heads Really Better than One? NeurIPS 2019.",
    "Nangia et al. 2020": "N. Nangia, C. Vania, R. Bhalerao, S. Bowman. CrowS-Pairs: A Challenge Dataset for Measuring Social "
    "Biases in Masked Language Models. EMNLP 2020.",
    "Salazar et al. 2020": "J. Salazar, D. Liang, T. Nguyen, K. Kirchhoff. Masked Language Model Scoring. ACL 2020.",
    "Schuster & Nakajima 2012": "M. Schuster, K. Nakajima. Japanese and Korean Voice Search. ICASSP 2012.",
    "Sennrich et al. 2016": "R. Sennrich, B. Haddow, A. Birch. Neural Machine Translation of Rare Words with Subword Units. "
    "ACL 2016.",
    "Shrikumar et al. 2016": "A. Shrikumar, P. Greenside, A. Shcherbina, A. Kundaje. Not Just a Black Box: Learning Important "
    "Features Through Propagating Activation Differences. 2016.",
    "Song et al. 2012": "L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt. Feature Selection via Dependence Maximization. "
    "JMLR 2012.",
    "Strobelt & Gehrmann 2020": "B. Hoover, H. Strobelt, S. Gehrmann. exBERT: A Visual Analysis Tool to Explore Learned "
    "Representations in Transformer Models. ACL 2020, demonstrations.",
    "Sundararajan et al. 2017": "M. Sundararajan, A. Taly, Q. Yan. Axiomatic Attribution for Deep Networks. ICML 2017.",
    "Tenney et al. 2019": "I. Tenney, D. Das, E. Pavlick. BERT Rediscovers the Classical NLP Pipeline. ACL 2019.",
    "Vaswani et al. 2017": "A. Vaswani et al. Attention Is All You Need. NeurIPS 2017.",
    "Venna & Kaski 2001": "J. Venna, S. Kaski. Neighborhood Preservation in Nonlinear Projection Methods: An Experimental Study. "
    "ICANN 2001.",
    "Vig et al. 2020": "J. Vig et al. Investigating Gender Bias in Language Models Using Causal Mediation Analysis. "
    "NeurIPS 2020.",
    "Vig & Belinkov 2019": "J. Vig, Y. Belinkov. Analyzing the Structure of Attention in a Transformer Language Model. "
    "BlackboxNLP 2019.",
    "Voita et al. 2019": "E. Voita, D. Talbot, F. Moiseev, R. Sennrich, I. Titov. Analyzing Multi-Head Self-Attention: "
    "Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned. ACL 2019.",
    "Wang et al. 2023": "K. Wang, A. Variengien, A. Conmy, B. Shlegeris, J. Steinhardt. Interpretability in the Wild: A Circuit "
    "for Indirect Object Identification in GPT-2 Small. ICLR 2023.",
    "Zeiler & Fergus 2014": "M. Zeiler, R. Fergus. Visualizing and Understanding Convolutional Networks. ECCV 2014.",
    "Zhang & Nanda 2024": "F. Zhang, N. Nanda. Towards Best Practices of Activation Patching in Language Models: Metrics and "
    "Methods. ICLR 2024.",
    "Yosinski et al. 2014": "J. Yosinski, J. Clune, Y. Bengio, H. Lipson. How Transferable Are Features in Deep Neural Networks? "
    "NIPS 2014.",
}


def named_in(texts: Iterable[str]) -> list[str]:
    """The references of the papers that texts name by author and year, without duplicates."""
    whole = re.sub(r"[\s(),]+", " ", " ".join(texts))
    return [reference for name, reference in PAPERS.items() if name in whole]


def of(view: View) -> list[str]:
    """The papers named in a view's docstrings, captions and notes."""
    told = [str(part.options.get("markdown", "")) for part in view.parts.values()]
    return named_in([type(view).__doc__ or "", sys.modules[type(view).__module__].__doc__ or "", *told])
