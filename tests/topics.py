"""Ten topics as users may type them: three classes of six training sentences each, and four clear test sentences of each."""

from dataclasses import dataclass

from explorer.training.examples import Examples

TYPED = 6  # training sentences of a class; the rest are for testing


@dataclass(frozen=True)
class Topic:
    """The sentences of three classes."""

    lines: dict[str, tuple[str, ...]]

    @property
    def typed(self) -> Examples:
        """The training sentences."""
        return self._part(slice(None, TYPED))

    @property
    def tried(self) -> Examples:
        """The test sentences, each clearly of one class."""
        return self._part(slice(TYPED, None))

    def _part(self, which: slice) -> Examples:
        rows = [(line, name) for name, lines in self.lines.items() for line in lines[which]]
        texts, labels = zip(*rows, strict=True)
        return Examples(texts, labels)


def _topic(**classes: str) -> Topic:
    return Topic({name: tuple(line.strip() for line in lines.strip().splitlines()) for name, lines in classes.items()})


TOPICS = {
    "around us": _topic(
        animal="""
            The fox slipped under the fence.
            A heron stood still in the shallow water.
            Our hamster sleeps all day.
            The lioness carried her cubs to the shade.
            Bees were humming around the lavender.
            A stray dog followed us home.
            The kitten chased a moth across the room.
            Two horses were grazing by the river.
            An owl hooted from the old oak.
            The puppy wagged its tail.
        """,
        vehicle="""
            The lorry blocked both lanes.
            My bicycle has a flat tyre.
            The tram rattled round the corner.
            She parked the van behind the shop.
            The ferry left the harbour at dawn.
            His motorbike would not start.
            The bus was late again because of the traffic.
            A helicopter landed on the roof.
            He drove the car into the garage.
            The train pulled out of the station.
        """,
        food="""
            The soup needs a little more salt.
            I baked a lemon cake for the party.
            We had fried rice with vegetables.
            The bread is still warm from the oven.
            Cheese and olives go well together.
            She peeled an orange after lunch.
            For breakfast I had porridge with honey.
            The pasta was covered in tomato sauce.
            Grandma's apple pie is the sweetest.
            He ordered a sandwich and a bowl of salad.
        """,
    ),
    "school": _topic(
        maths="""
            Add the two fractions and simplify.
            The triangle has an angle of ninety degrees.
            Multiply both sides by three.
            What is the square root of eighty-one?
            Draw the graph of this function.
            Seven divided by two leaves a remainder.
            Solve the equation for x.
            The sum of these numbers is forty.
            Work out the area of the circle.
            Subtract twelve from fifty.
        """,
        history="""
            The king was crowned in the old cathedral.
            Rome fell in the fifth century.
            Soldiers lived in the trenches for months.
            The queen sent her ships against the enemy.
            The treaty ended the war.
            Peasants rose against their lords.
            The emperor conquered many lands.
            The revolution began in 1789.
            Knights defended the castle for a year.
            After the battle the two nations signed a peace.
        """,
        biology="""
            Plants make sugar from sunlight.
            The heart pumps blood through the body.
            Every cell has a membrane.
            Frogs lay their eggs in water.
            Oxygen enters through the lungs.
            Genes are passed on from the parents.
            Roots take up water from the soil.
            The stomach breaks down what we eat.
            Muscles and bones let us move.
            The leaves of a plant take in carbon dioxide.
        """,
    ),
    "help desk": _topic(
        delivery="""
            My parcel has not arrived yet.
            Where is my order?
            The courier left the box with a neighbour.
            The tracking number does not work.
            Can you ship it to another address?
            It was supposed to come on Monday.
            When will my package be delivered?
            The driver never rang the bell and took the parcel away.
            How long does shipping take?
            I am still waiting for the box that you sent last week.
        """,
        payment="""
            I was charged twice for the same thing.
            Please send me a refund.
            My card was declined.
            Can I pay by bank transfer?
            The invoice shows the wrong amount.
            How much is the monthly fee?
            You took too much money from my account.
            I would like my money back.
            Which credit cards do you accept?
            There is a mistake in the price on my bill.
        """,
        login="""
            I forgot my password.
            The site does not let me sign in.
            My account is locked.
            How do I change my user name?
            I never got the code to confirm my email.
            It says that my password is wrong.
            How can I reset my password?
            I cannot log in to my account.
            The login page keeps asking for a code.
            Please unlock my user account.
        """,
    ),
    "news": _topic(
        sport="""
            The striker scored twice in the second half.
            She won the final in straight sets.
            Their goalkeeper saved a penalty.
            The coach has picked a young team.
            He broke the record in the hundred metres.
            The home side lost by ten points.
            The team won the cup after extra time.
            The runner took gold in the marathon.
            United beat City by three goals to one.
            The tennis champion is out of the tournament.
        """,
        politics="""
            The minister resigned this morning.
            Parliament votes on the new law today.
            The president met leaders from six countries.
            The party has lost the election.
            The mayor wants to lower taxes.
            Members of the opposition left the chamber.
            The prime minister announced an early election.
            Voters go to the polls on Sunday.
            The government has passed a new tax law.
            The senator gave a speech to her party.
        """,
        weather="""
            Heavy rain is expected in the north.
            Tonight will be clear and cold.
            A storm is moving in from the sea.
            Temperatures will reach thirty degrees.
            Snow fell overnight in the mountains.
            Fog is likely in the valleys at dawn.
            Tomorrow will be sunny with a light wind.
            Thunder and hail are forecast for the evening.
            It will stay dry, with clouds in the south.
            Frost and ice are expected overnight.
        """,
    ),
    "what it does": _topic(
        question="""
            What time is it?
            Where did you put the keys?
            Who is coming to dinner?
            Have you seen my glasses?
            Why is the shop closed?
            How far is it to the lake?
            When does the film begin?
            Did they call you back?
            Which of these coats is yours?
            Is there any milk left?
        """,
        request="""
            Please close the door.
            Bring me the blue folder.
            Turn the music down, please.
            Wash your hands before dinner.
            Send them a message tonight.
            Wait for me at the corner.
            Please open the window.
            Put the plates on the table.
            Take your shoes off, please.
            Call your sister this evening.
        """,
        statement="""
            The meeting lasted two hours.
            My brother lives in Leeds.
            The shop sells used books.
            It was dark when we got home.
            They painted the kitchen yellow.
            The river is wider here.
            The museum opened in spring.
            Her cousin works at the hospital.
            The road goes through the forest.
            We had a long walk on Sunday.
        """,
    ),
    "feelings": _topic(
        happy="""
            I could not stop smiling all day.
            We danced and sang until midnight.
            This is the best news I have had all year.
            She was so proud of her little boy.
            What a lovely surprise!
            I am over the moon about the job.
            I am so happy that you came.
            We laughed and had a wonderful time.
            He was delighted with his present.
            Today was a beautiful, joyful day.
        """,
        angry="""
            How dare you read my letters!
            He slammed the door and shouted at us.
            I have had enough of your lies.
            She was furious about the broken window.
            Stop touching my things!
            It makes me mad that nobody listens.
            He yelled at the driver in a rage.
            I am so angry with you!
            Get out of my room and leave my things alone!
            She was mad at him for lying to her again.
        """,
        afraid="""
            My hands were shaking in the dark.
            There is something moving under the bed.
            I was too scared to open the door.
            She trembled when she heard the steps.
            He is terrified of spiders.
            I worry that we will not get out alive.
            I am frightened of the dark.
            The child was scared and hid under the blanket.
            She was terrified when the lights went out.
            He froze with fear at the strange noise.
        """,
    ),
    "at home": _topic(
        kitchen="""
            The pan is on the stove.
            Put the knives back into the drawer.
            The kettle is boiling.
            There are dirty plates in the sink.
            She chopped the onions on the board.
            The oven is too hot for the biscuits.
            The milk is in the fridge.
            He stirred the pot with a wooden spoon.
            I washed the dishes after dinner.
            The frying pan is next to the stove.
        """,
        bathroom="""
            There is no toilet paper left.
            She left her toothbrush on the shelf.
            The shower is cold again.
            He is shaving in front of the mirror.
            I need a clean towel.
            The bath is full of foam.
            He took a hot shower and washed his hair.
            The soap fell into the bath.
            I brush my teeth twice a day.
            The towel is hanging beside the shower.
        """,
        garden="""
            The roses need to be cut back.
            He is mowing the lawn.
            We planted potatoes behind the shed.
            The hedge is getting too high.
            Weeds are growing between the beans.
            A bench stands under the apple tree.
            She is watering the flowers.
            The grass is long and full of daisies.
            He dug a hole for the new tree.
            We raked the leaves on the lawn.
        """,
    ),
    "a journey": _topic(
        flight="""
            Boarding begins at gate twelve.
            My suitcase did not come off the plane.
            Please fasten your seat belts.
            The pilot said that we would land early.
            I always ask for a seat by the window.
            We missed our connection in Frankfurt.
            The plane took off an hour late.
            The flight attendant brought us coffee.
            We had to run to the gate before boarding closed.
            The pilot landed the plane safely.
        """,
        hotel="""
            Our room looks out over the sea.
            Breakfast is served until ten in the lobby.
            The receptionist gave us two keys.
            The bed was soft and the towels were fresh.
            We would like to stay one more night.
            Check-out is at eleven.
            We booked a double room for two nights.
            The reception is open all night.
            Our room had a large bed and a balcony.
            The hotel has forty rooms and a pool.
        """,
        restaurant="""
            Could we see the menu, please?
            The waiter forgot our drinks.
            I will have the fish with potatoes.
            We ordered two starters and a bottle of wine.
            The steak was a little tough.
            They have a table for four at eight.
            The waiter brought the bill.
            We shared a pizza and a dessert.
            I ordered the chicken and a glass of wine.
            The chef came to our table after the meal.
        """,
    ),
    "an evening": _topic(
        music="""
            The drummer came in too early.
            She sings in a choir on Thursdays.
            The violin solo was breathtaking.
            Their new album has ten songs.
            He tuned his guitar before the concert.
            I cannot get that melody out of my head.
            The band played their best songs.
            The piano was out of tune.
            She has written a song for the choir.
            The orchestra played a symphony.
        """,
        film="""
            The director shot it in black and white.
            The actors had no chemistry at all.
            We sat in the last row of the cinema.
            The camera follows her through the city.
            The trailer gave away the ending.
            It is a thriller with a long car chase.
            The movie won three awards for its actors.
            We watched a comedy at the cinema.
            The last scene was filmed in the desert.
            She plays a spy on the screen.
        """,
        book="""
            The last chapter was the best.
            I borrowed the novel from the library.
            The author grew up in Lagos.
            She reads a few pages before she falls asleep.
            It is a collection of short poems.
            The story is told by an old sailor.
            The writer published her first novel at sixty.
            I read the first chapter on the train.
            The pages of the old book were yellow.
            He writes poems and short stories.
        """,
    ),
    "at work": _topic(
        doctor="""
            The patient has a high fever.
            Take two of these pills before you sleep.
            She listened to my lungs.
            The wound has to be cleaned and stitched.
            Your blood pressure is a bit too high.
            The surgeon operated for five hours.
            The nurse gave him an injection.
            How long have you had this pain in your chest?
            She examined the patient and wrote a prescription.
            The X-ray shows that the bone is broken.
        """,
        teacher="""
            Open your books at page thirty.
            The pupils handed in their homework.
            Write the answer on the board.
            The class will have a test on Friday.
            She explained the rule once more.
            Half of the class had not learned the words.
            The students wrote an essay in class.
            Please raise your hand before you speak.
            She marked the exams of her pupils.
            The lesson ends when the bell rings.
        """,
        builder="""
            The wall needs another row of bricks.
            He mixed the cement with sand.
            We are putting in new windows this week.
            The roof has to be finished before winter.
            Hand me the hammer and some nails.
            They drilled a hole through the concrete.
            He laid the bricks for the new wall.
            The crane lifted the beams onto the roof.
            They are pouring concrete for the floor.
            She nailed the boards to the wooden frame.
        """,
    ),
}
